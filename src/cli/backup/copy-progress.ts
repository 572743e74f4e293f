/** How `backup` and `restore` tell how far they are, and what they have copied. */
import type { CatalogueFacts, CopyState } from '../../store/sqlite/backup/database-copy.ts';
import { Progress } from '../progress.ts';
import { formatCounted } from '../format.ts';

export class CopyProgress {
  readonly #progress = new Progress(process.stderr);
  readonly #note: (text: string) => void;
  #isEnded = false;

  constructor(note: (text: string) => void) {
    this.#note = note;
  }

  show(state: CopyState): void {
    if (state.bytes < state.sizeBytes) {
      this.#progress.show(state);
    } else if (!this.#isEnded) {
      this.#isEnded = true;
      this.#progress.end(state);
      this.#note('Checking the copy.');
    }
  }

  close(): void {
    this.#progress.close();
  }
}

/** As people read it. */
export function describeCatalogue(
  { sellers, products, changes }: Pick<CatalogueFacts, 'sellers' | 'products' | 'changes'>,
): string {
  return `${formatCounted(sellers, 'seller')} with ${formatCounted(products, 'product')}`
    + ` after ${formatCounted(changes, 'change')}`;
}
