const alphaDashDot = /^[A-Za-z0-9_.-]+$/;
/** Characters of a reference with `refs/`, and of a branch or a tag that is made here. */
const longestReference = 1000;
const longestNewName = 250;
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

/** Whether git takes it as the name of a reference, by the rules of `git check-ref-format`: clients push any such name. */
export function isReferenceName(name: string): boolean {
  if (name === '' || name.length > longestReference || name === '@') return false;
  // Of the control characters git minds those of ASCII alone.
  if (/[\p{Cc} ~^:?*[\\]/u.test(name.replaceAll(/[\u0080-\u009f]/g, ''))) return false;
  if (/\.\.|@\{|\/\/|\.$|\/$|^\//.test(name)) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

/**
 * Whether a tag of that name is made here. As git's own commands warn of it: what begins with a hyphen reads as an option, 40
 * hexadecimal digits as a commit, and what cannot be seen as another name.
 */
export function isNewTagName(name: string): boolean {
  return (
    isReferenceName(name) &&
    name.length <= longestNewName &&
    !/^-|[\p{Cc}\p{Cf}\p{Cs}]/u.test(name) &&
    !isObjectId(name)
  );
}

/** The same for a branch. */
export function isNewBranchName(name: string): boolean {
  return isNewTagName(name) && name !== 'HEAD';
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
  if (plain.split('/').some((part) => part === '' || part === '.' || part === '..')) return undefined;
  return plain.split(/[/\\]/).some(isGitFolder) ? undefined : plain;
}

/** Whether some file system takes it for `.git`: they leave characters out, have short names, and streams behind a colon. */
function isGitFolder(part: string): boolean {
  const seen = part
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return /^(\.git|git~1)$/i.test(seen);
}

const reservedOwners =
  /^(\.|\.\.|-|admin|api|assets|attachments|avatars|login|metrics|org|orgs|repo|swagger\..*|user|users|v2|ghost)$|\.(git|keys|rss|atom)$/i;

/** What is wrong with an organisation's name, in the peer's words, or undefined. */
export function ownerNameProblem(name: string): string | undefined {
  if (name.length > 40) return '[UserName]: MaxSize';
  if (!/^[A-Za-z0-9_.-]+$/.test(name)) return '[UserName]: AlphaDashDot';
  return reservedOwners.test(name) ? `name is reserved [name: ${name}]` : undefined;
}
