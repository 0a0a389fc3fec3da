/** Parsed command of an `exec` request. */
export type SshCommand =
  | {
      readonly kind: 'transfer';
      readonly program: 'upload-pack' | 'receive-pack' | 'upload-archive';
      readonly owner: string;
      readonly name: string;
    }
  | { readonly kind: 'lfs'; readonly operation: 'upload' | 'download'; readonly owner: string; readonly name: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** Parses commands such as `git-upload-pack 'owner/name.git'`, with and without quotes. */
export function readSshCommand(text: string): SshCommand {
  const words = wordsOf(text);
  const [first = '', second = '', ...more] = words ?? [];
  const [program, path, ...rest] = first === 'git' ? [`git-${second}`, ...more] : [first, second, ...more];
  const transfer = /^git-(upload-pack|receive-pack|upload-archive)$/.exec(program ?? '')?.[1];
  const isLfs = program === 'git-lfs-authenticate';
  if (path === undefined || path === '' || (transfer === undefined && !isLfs))
    return refused('Invalid repository path');
  const [, owner, name] = /^\/?([A-Za-z0-9._+@-]+)\/([A-Za-z0-9._-]+?)(?:\.git)?\/?$/.exec(path) ?? [];
  if (owner === undefined || name === undefined || /^\.+$/.test(owner) || /^\.+$/.test(name))
    return refused('Invalid repo name');
  if (isLfs) {
    const [operation] = rest;
    if (operation !== 'upload' && operation !== 'download') return refused('Unknown LFS verb');
    return { kind: 'lfs', operation, owner, name };
  }
  if (rest.length > 0) return refused('Invalid repository path');
  return { kind: 'transfer', program: transfer as 'upload-pack', owner, name };
}

function refused(reason: string): SshCommand {
  return { kind: 'refused', reason };
}

/** Splits a command line by the quoting rules of a shell. Returns undefined if a quote is not closed. */
function wordsOf(text: string): readonly string[] | undefined {
  if (text.length > 4096) return undefined;
  const words: string[] = [];
  let word: string | undefined;
  let quote = '';
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (quote !== '') {
      if (letter === quote) quote = '';
      else word = (word ?? '') + letter;
    } else if (letter === "'" || letter === '"') {
      quote = letter;
      word ??= '';
    } else if (letter === '\\') {
      at += 1;
      word = (word ?? '') + (text[at] ?? '');
    } else if (/\s/.test(letter)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + letter;
  }
  if (quote !== '') return undefined;
  if (word !== undefined) words.push(word);
  return words;
}
