/** What the OpenAPI document says of how the server is. */
import { JSON_TYPE } from './media-types.ts';
import type { Answer, Operation } from './description/operation.ts';
import { objectOf } from './description/schema.ts';

export const readHealthOperation: Operation = {
  id: 'readHealth',
  summary: 'Ask whether the server is alive',
  description: 'Answers as long as the process does anything at all. Needs no key.',
  answers: { 200: describe('It is.', 'alive') },
};

export const readReadinessOperation: Operation = {
  id: 'readReadiness',
  summary: 'Ask whether the server can do its work',
  description: '503 says what is in the way: it is stopping, its database cannot be read, its disk '
    + 'is full, or its last change could not be written. Looks once a second. Needs no key.',
  answers: { 200: describe('It can.', 'ready') },
};

function describe(description: string, status: string): Answer {
  return {
    description,
    content: {
      [JSON_TYPE]: { schema: objectOf({ status: { const: status } }), example: { status } },
    },
  };
}
