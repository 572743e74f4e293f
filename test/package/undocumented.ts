/** Lists the public declarations of a package that have no comment for editors to show. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const DECLARATION =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|const|function|interface|type) (\w+)/;
/** A member, which the compiler writes on a line of its own. */
const MEMBER = /^ +(?:(?:static|readonly) )*(\w+|\[[^\]]+\])\??(?:: |\(|<)/;

/** Such as `dist/client/stock.d.ts: Stock.sync`. */
export function listUndocumented(folder: string): readonly string[] {
  return globSync('dist/**/*.d.ts', { cwd: folder }).sort().flatMap((path) => {
    let owner = '';
    let isComment = false;
    let isDescribed = false;
    return readFileSync(join(folder, path), 'utf8').split('\n').flatMap((line) => {
      isComment ||= line.trimStart().startsWith('/**');
      if (isComment) {
        isComment = !line.endsWith('*/');
        isDescribed = true;
        return [];
      }
      const declared = DECLARATION.exec(line)?.[1];
      owner = declared ?? owner;
      const member = MEMBER.exec(line)?.[1];
      const isBare = !isDescribed && (declared ?? member) !== undefined;
      isDescribed = false;
      return isBare ? [`${path}: ${member === undefined ? owner : `${owner}.${member}`}`] : [];
    });
  });
}
