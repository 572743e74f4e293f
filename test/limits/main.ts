/** `make limits`: renders every limit of the `limits.ts` files into the table `src/LIMITS.md`. */
import { writeFileSync } from 'node:fs';
import { LIMITS_FILE, renderLimits } from './limits.ts';

writeFileSync(LIMITS_FILE, await renderLimits());
