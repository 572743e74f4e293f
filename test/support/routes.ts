/** All routes of the API: those of the core and of every feature. */
import { describeRoutes } from '../../src/feature.ts';
import { features } from '../../src/features.ts';

export const description = describeRoutes(features);
export const { routes } = description;
