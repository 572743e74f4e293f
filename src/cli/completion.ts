/**
 * `completion`: scripts that complete commands, flags and values in bash, zsh and fish. They are
 * generated from the table of commands, and start no program while somebody types.
 */
import {
  type Command, type CommandTable, type Flag, listFlags, placeholderOf, UsageError,
} from './command.ts';

/** What can follow a word that is complete. */
interface Entry {
  readonly word: string;
  readonly summary: string;
}

interface FlagEntry extends Entry {
  /** Undefined for a switch. */
  readonly value: Operand | undefined;
}

interface Operand {
  /** The words to choose from, if there is a choice. */
  readonly choices: readonly string[];
  /** Whether several of them may be given, separated by commas. */
  readonly isList: boolean;
  readonly isFile: boolean;
}

/** A state of the command line: after the program, a group or a command. */
interface Place {
  /** The words so far; empty after the program. */
  readonly path: string;
  /** Groups and commands. */
  readonly words: readonly Entry[];
  readonly operand: Operand | undefined;
  readonly flags: readonly FlagEntry[];
}

const FORMATS: Readonly<Record<string, (places: readonly Place[]) => string>> = {
  bash: formatBash, zsh: formatZsh, fish: formatFish,
};
const SHELLS = Object.keys(FORMATS);

export function createCompletion(commands: CommandTable): Command {
  return {
    summary: 'Prints a script that completes commands and flags in your shell.',
    operands: [SHELLS.join('|')],
    isRemote: true,
    async run({ operands: [shell = ''] }) {
      const format = Object.hasOwn(FORMATS, shell) ? FORMATS[shell] : undefined;
      if (!format) throw new UsageError(`Name a shell: ${SHELLS.join(', ')}.`);
      const script = format(await listPlaces(commands));
      return { document: { shell, script }, text: script.trimEnd() };
    },
  };
}

async function listPlaces(commands: CommandTable): Promise<Place[]> {
  const loaded = await Promise.all([...commands].map(async ([name, load]) =>
    ({ name, command: await load() })));
  const groups = Map.groupBy(loaded, ({ name }) => name.split(' ')[0] ?? '');
  const places: Place[] = loaded.map(({ name, command }) => ({
    path: name, words: [], operand: readOperand(command.operands?.[0]),
    flags: Object.entries(listFlags(command)).map(([name, flag]) => ({
      word: `--${name}`, summary: flag.help, value: readOperand(placeholderOf(flag), flag),
    })),
  }));
  const first: Entry[] = [];
  for (const [group, members] of groups) {
    const summary = members.map(({ command }) => command.summary)[0] ?? '';
    if (members.some(({ name }) => name === group)) first.push({ word: group, summary });
    else {
      const words = members.map(({ name, command }) =>
        ({ word: name.slice(group.length + 1), summary: command.summary }));
      first.push({ word: group, summary: words.map(({ word }) => word).join(', ') });
      places.push({ path: group, words, operand: undefined, flags: [] });
    }
  }
  return [{ path: '', words: first, operand: undefined, flags: [] }, ...places];
}

/** Undefined if there is no operand. Placeholders are in capitals, choices in lower case. */
function readOperand(
  name: string | undefined, { choices, isList = false }: Omit<Flag, 'help'> = {},
): Operand | undefined {
  if (name === undefined) return undefined;
  const words = choices ?? (/^[a-z]+(?:\|[a-z]+)+$/.test(name) ? name.split('|') : []);
  return { choices: words, isList, isFile: /\b(?:FILE|DIR|PATH)\b/.test(name) };
}

/** A loop that finds the place, in the common syntax of bash and zsh: it sets `place`. */
function formatSearch(places: readonly Place[], words: string): string {
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`).join('|');
  return `  local place='' word previous=''
  for word in "\${${words}}"; do
    previous=$word
    case "\${place:+$place }$word" in
      ${paths}) place="\${place:+$place }$word" ;;
    esac
  done`;
}

/** What follows a flag that takes a value, as cases of bash and zsh for place and flag. */
function formatValueCases(places: readonly Place[], format: (value: Operand) => string): string {
  const values = places.flatMap(({ path, flags }) => flags.flatMap(({ word, value }) =>
    (value ? [{ pattern: `'${path} ${word}'`, text: format(value) }] : [])));
  return [...Map.groupBy(values, ({ text }) => text)].map(([text, alike]) =>
    `    ${alike.map(({ pattern }) => pattern).join('|')}) ${text} ;;`).join('\n');
}

function formatBash(places: readonly Place[]): string {
  const values = formatValueCases(places, ({ choices, isList }) =>
    `words='${choices.join(' ')}'${isList ? '; items=${current%"${current##*[,=]}"}' : ''}`);
  const words = places.map(({ path, words: entries, operand, flags }) => {
    const names = flags.map(({ word }) => word);
    const plain = [...entries.map(({ word }) => word), ...operand?.choices ?? []];
    // Without operands, the flags are all that can follow.
    const start = operand || entries.length > 0 ? plain : names;
    return `    '${path}') words='${start.join(' ')}' flags='${names.join(' ')}' ;;`;
  });
  // Bash splits words at COMP_WORDBREAKS, too, and replaces only what follows the last break.
  return `# Completes seller-api in bash. To load it: source <(seller-api completion bash)
_seller_api() {
  local current typed line=\${COMP_LINE:0:COMP_POINT} words='' flags='' items=''
  read -ra typed <<< "$line."
  current=\${typed[\${#typed[@]}-1]%.}
${formatSearch(places, 'typed[@]:1:${#typed[@]}-2')}
  case "$place" in
${words.join('\n')}
  esac
  case $current in
    --*=*) previous=\${current%%=*} items=\${current%%=*}= words='' ;;
    -*) words=$flags ;;
  esac
  case "$place $previous" in
${values}
  esac
  COMPREPLY=($(compgen -P "$items" -W "$words" -- "\${current#"$items"}"))
  local breaks=\${COMP_WORDBREAKS//[^:=]/}
  COMPREPLY=("\${COMPREPLY[@]#"\${breaks:+\${current%"\${current##*[$breaks]}"}}"}")
}
complete -o default -F _seller_api seller-api
`;
}

function formatZsh(places: readonly Place[]): string {
  const values = formatValueCases(places, (value) => `${formatZshOperand(value)}; return`);
  const cases = places.map(({ path, words, operand, flags }) => {
    const lists = [
      ...words.length > 0 ? [`entries=(${words.map(describe).join(' ')})`] : [],
      ...operand ? [formatZshOperand(operand)] : [],
      ...flags.length > 0 ? [`flags=(${flags.map(describe).join(' ')})`] : [],
    ];
    return `    '${path}') ${lists.join('; ')} ;;`;
  });
  return `#compdef seller-api
# Completes seller-api in zsh. To load it: source <(seller-api completion zsh)
_seller_api() {
  local -a entries flags
${formatSearch(places, '(@)words[2,CURRENT-1]')}
  case "$place $previous" in
${values}
  esac
  case "$place" in
${cases.join('\n')}
  esac
  (( $#entries )) && _describe command entries
  (( $#flags )) && _describe -o flag flags
}
compdef _seller_api seller-api
`;
}

function formatZshOperand({ choices, isList, isFile }: Operand): string {
  if (choices.length > 0) {
    return `${isList ? "compset -P '*,'; " : ''}compadd -- ${choices.join(' ')}`;
  }
  return isFile ? '_files' : ':';
}

function describe({ word, summary }: Entry): string {
  return quote(`${word}:${summary}`);
}

function formatFish(places: readonly Place[]): string {
  const paths = places.filter(({ path }) => path !== '').map(({ path }) => `'${path}'`).join(' ');
  const lines = places.flatMap(({ path, words, operand, flags }) => {
    const start = `complete -c seller-api -n ${quote(`__seller_api_at "${path}"`)}`;
    const choices = operand?.choices.join(' ') ?? '';
    return [
      ...operand?.isFile ? [] : [`${start} -f`],
      ...choices === '' ? [] : [`${start} -a '${choices}'`],
      ...words.map(({ word, summary }) => `${start} -a ${word} -d ${quote(summary)}`),
      ...flags.map(({ word, summary, value }) =>
        `${start} -l ${word.slice(2)}${formatFishValue(value)} -d ${quote(summary)}`),
    ];
  });
  return `# Completes seller-api in fish. To load it: seller-api completion fish | source
function __seller_api_at
  set -l place
  for word in (commandline -opc)[2..-1]
    contains -- (string join ' ' -- $place $word) ${paths}; and set -a place $word
  end
  test "$place" = "$argv[1]"
end
${lines.join('\n')}
`;
}

function formatFishValue(value: Operand | undefined): string {
  if (!value) return '';
  const words = value.choices.join(' ');
  if (words !== '') return ` -x -a '${value.isList ? `(__fish_append , ${words})` : words}'`;
  return value.isFile ? ' -r -F' : ' -x';
}

/** Quotes a text for all shells. Each escapes a quote differently, so it gets a typographic one. */
function quote(text: string): string {
  return `'${text.replaceAll("'", '’')}'`;
}
