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
export function parseSshCommand(text: string): SshCommand {
  const args = splitCommandLine(text);
  const [first = '', second = '', ...remaining] = args ?? [];
  const [program, path, ...rest] = first === 'git' ? [`git-${second}`, ...remaining] : [first, second, ...remaining];
  const transfer = /^git-(upload-pack|receive-pack|upload-archive)$/.exec(program ?? '')?.[1];
  const isLfs = program === 'git-lfs-authenticate';
  if (path === undefined || path === '' || (transfer === undefined && !isLfs))
    return rejectCommand('Invalid repository path');
  const [, owner, name] = /^\/?([A-Za-z0-9._+@-]+)\/([A-Za-z0-9._-]+?)(?:\.git)?\/?$/.exec(path) ?? [];
  if (owner === undefined || name === undefined || /^\.+$/.test(owner) || /^\.+$/.test(name))
    return rejectCommand('Invalid repo name');
  if (isLfs) {
    const [operation] = rest;
    if (operation !== 'upload' && operation !== 'download') return rejectCommand('Unknown LFS verb');
    return { kind: 'lfs', operation, owner, name };
  }
  if (rest.length > 0) return rejectCommand('Invalid repository path');
  return { kind: 'transfer', program: transfer as 'upload-pack', owner, name };
}

function rejectCommand(reason: string): SshCommand {
  return { kind: 'refused', reason };
}

/** Splits a command line by the quoting rules of a shell. Returns undefined if a quote is not closed. */
function splitCommandLine(text: string): readonly string[] | undefined {
  if (text.length > 4096) return undefined;
  const args: string[] = [];
  let current: string | undefined;
  let quote = '';
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
      else current = (current ?? '') + character;
    } else if (character === "'" || character === '"') {
      quote = character;
      current ??= '';
    } else if (character === '\\') {
      index += 1;
      current = (current ?? '') + (text[index] ?? '');
    } else if (/\s/.test(character)) {
      if (current !== undefined) args.push(current);
      current = undefined;
    } else current = (current ?? '') + character;
  }
  if (quote !== '') return undefined;
  if (current !== undefined) args.push(current);
  return args;
}
