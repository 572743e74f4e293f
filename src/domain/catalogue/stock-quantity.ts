/** A quantity that may be in stock. */
import { STOCK_LIMIT } from '../limits.ts';
import { integerValidator, type Validator } from '../validation.ts';

export const stockQuantity: Validator<number> = integerValidator(0, STOCK_LIMIT);
