const alphaDashDot = /^[A-Za-z0-9_.-]+$/;
const reservedRepositories = /^(\.|\.\.|-)$|\.(git|wiki|rss|atom|lock)$/i;
/** What is wrong with a repository's name, in the peer's words, or undefined. */
export function repositoryNameProblem(name: string): string | undefined {
  if (name === '') return '[Name]: Required';
  if (name.length > 100) return '[Name]: MaxSize';
  if (!alphaDashDot.test(name)) return '[Name]: AlphaDashDot';
  if (reservedRepositories.test(name))
    return `name is invalid [${name}]: must be valid alpha or numeric or dash(-_) or dot characters`;
  return undefined;
}

/**
 * Whether git would take it as the name of a reference below `refs/`, by the rules of `git check-ref-format`; what begins
 * with a hyphen is refused as well, since it could be read as an option.
 */
export function isReferenceName(name: string): boolean {
  if (name === '' || name.length > 250 || name === '@' || name.startsWith('-')) return false;
  if (/[\p{Cc} ~^:?*[\\]|\.\.|@\{|\/\/|\.$|\/$|^\//u.test(name)) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

/** The same for a branch. */
export function isBranchName(name: string): boolean {
  return isReferenceName(name) && name !== 'HEAD';
}

/** Whether it is the name of an object in full. */
export function isObjectId(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

/** A path of a file within a repository, without what could lead out of it; undefined for none. */
export function treePath(path: string): string | undefined {
  const plain = path.replace(/^\/+|\/+$/g, '');
  if (plain === '') return '';
  if (plain.length > 4096 || /[\0\n\r]/.test(plain)) return undefined;
  const parts = plain.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..' || part.toLowerCase() === '.git'))
    return undefined;
  return plain;
}

const reservedOwners = /^(\.|\.\.|-|admin|api|assets|attachments|avatars|login|metrics|org|orgs|repo|swagger\..*|user|users|v2|ghost)$|\.(git|keys|rss|atom)$/i; // prettier-ignore

/** What is wrong with an organisation's name, in the peer's words, or undefined. */
export function ownerNameProblem(name: string): string | undefined {
  if (name.length > 40) return '[UserName]: MaxSize';
  if (!/^[A-Za-z0-9_.-]+$/.test(name)) return '[UserName]: AlphaDashDot';
  return reservedOwners.test(name) ? `name is reserved [name: ${name}]` : undefined;
}
