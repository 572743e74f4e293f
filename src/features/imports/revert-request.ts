/** Parses the body of a revert: which changes to revert, and how. */
import type { Caller } from '../../domain/access/caller.ts';
import { stockSource } from '../../domain/catalogue/stock-sync.ts';
import { AppError } from '../../domain/error.ts';
import { type KeyId, parseImportId, parseKeyId, type SellerId } from '../../domain/id.ts';
import {
  booleanValidator, integerValidator, invalid, ObjectReader, stringValidator, type Validator,
} from '../../domain/validation.ts';
import type { RevertRequest, RevertSelection } from '../../store/revert-store.ts';

const positionValidator: Validator<number> = integerValidator(0, Number.MAX_SAFE_INTEGER);

export const REVERT_VALIDATORS = {
  import: {
    ...stringValidator, description: 'The import to revert; or send `after` and `up_to`.',
  },
  after: { ...positionValidator, description: 'Revert the changes after this position, ...' },
  up_to: { ...positionValidator, description: '... up to this one.' },
  key_id: {
    ...stringValidator, description: 'Of these changes, only those that this key made.',
  },
  source: { ...stockSource, description: 'Of these changes, only those from this system.' },
  dry_run: { ...booleanValidator, description: 'Return the outcome without changing anything.' },
  force: {
    ...booleanValidator,
    description: 'Also restore products that something else changed since. Stock goes back by what '
      + 'the reverted changes moved, so later movements stay; members that they did not change '
      + 'keep their current value.',
  },
};

/** @throws AppError `invalid_data`; `not_found` for an id that is not of this seller's imports */
export function parseRevertRequest(
  body: unknown, { sellerId, position }: Pick<Caller, 'sellerId' | 'position'>,
): RevertRequest {
  const reader = new ObjectReader(body, { dry_run: false, force: false }, true);
  const members = reader.readAll({ ...REVERT_VALIDATORS, key_id: ownKeyValidator(sellerId) });
  reader.assertValid();
  const options = { isDryRun: members.dry_run === true, isForced: members.force === true };
  if (members.import === undefined) {
    return { selection: parseRange(reader, members, position), ...options };
  }
  for (const member of ['after', 'up_to', 'key_id', 'source'] as const) {
    if (members[member] === undefined) continue;
    reader.addError(member, { code: 'mismatch', detail: 'Does not combine with "import".' });
  }
  reader.assertValid();
  const importId = parseImportId(sellerId, members.import);
  if (importId === undefined) throw new AppError('not_found', 'You have no import with this id.');
  return { selection: { importId }, ...options };
}

function parseRange(
  reader: ObjectReader,
  { after, up_to: upTo, key_id: keyId, source }: {
    readonly after: number | undefined; readonly up_to: number | undefined;
    readonly key_id: KeyId | undefined; readonly source: string | undefined;
  },
  position: number,
): RevertSelection {
  if (after === undefined && upTo === undefined) {
    reader.addError('import', { code: 'required', detail: 'Send this, or "after" and "up_to".' });
  } else if (after === undefined || upTo === undefined) {
    reader.require(after === undefined ? 'after' : 'up_to');
  } else if (upTo < after) {
    reader.addError('up_to', { code: 'range', detail: 'Must not be less than "after".' });
  } else if (upTo > position) {
    const detail = `Must be at most ${position}, the position of the catalogue.`;
    reader.addError('up_to', { code: 'range', detail });
  } else {
    return { after, upTo, keyId, source };
  }
  reader.assertValid();
  throw new TypeError('The range is invalid.'); // assertValid has thrown
}

function ownKeyValidator(sellerId: SellerId): Validator<KeyId> {
  return {
    ...REVERT_VALIDATORS.key_id,
    parse(value) {
      const key = typeof value === 'string' ? parseKeyId(value) : undefined;
      if (key?.sellerId === sellerId) return { value: key.keyId };
      return invalid('format', 'Must be the id of one of your keys.');
    },
  };
}
