const namePattern = /^[A-Za-z0-9_.-]+$/;
/** Maximum length of a reference name with `refs/`, and of a new branch or tag name. */
const maxReferenceLength = 1000;
const maxNewNameLength = 250;
const reservedRepositoryPattern = /^(\.|\.\.|-)$|\.(git|wiki|rss|atom|lock)$/i;
/** Returns an error message in Gitea's format if the repository name is invalid. */
export function validateRepositoryName(name: string): string | undefined {
  if (name === '') return '[Name]: Required';
  if (name.length > 100) return '[Name]: MaxSize';
  if (!namePattern.test(name)) return '[Name]: AlphaDashDot';
  if (reservedRepositoryPattern.test(name))
    return `name is invalid [${name}]: must be valid alpha or numeric or dash(-_) or dot characters`;
  return undefined;
}

/** Returns true if `git check-ref-format` accepts the reference name. Clients may push any such name. */
export function isReferenceName(name: string): boolean {
  if (name === '' || name.length > maxReferenceLength || name === '@') return false;
  // Git rejects only the control characters of ASCII.
  if (/[\p{Cc} ~^:?*[\\]/u.test(name.replaceAll(/[\u0080-\u009f]/g, ''))) return false;
  if (/\.\.|@\{|\/\/|\.$|\/$|^\//.test(name)) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

/**
 * Returns true if a tag with this name may be created. Git warns about the same names: a leading hyphen looks like an
 * option, 40 hexadecimal digits look like a commit, and invisible characters look like another name.
 */
export function isNewTagName(name: string): boolean {
  return (
    isReferenceName(name) &&
    name.length <= maxNewNameLength &&
    !/^-|[\p{Cc}\p{Cf}\p{Cs}]/u.test(name) &&
    !isObjectId(name)
  );
}

/** Returns true if a branch with this name may be created. */
export function isNewBranchName(name: string): boolean {
  return isNewTagName(name) && name !== 'HEAD';
}

/** Returns true if the text is a full object ID. */
export function isObjectId(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text);
}

/** Normalizes the path of a file within a repository. Returns undefined if the path could lead out of it. */
export function normalizeTreePath(path: string): string | undefined {
  const normalized = path.replace(/^\/+|\/+$/g, '');
  if (normalized === '') return '';
  if (normalized.length > 4096 || /[\0\n\r]/.test(normalized)) return undefined;
  if (normalized.split('/').some((part) => part === '' || part === '.' || part === '..')) return undefined;
  return normalized.split(/[/\\]/).some(isGitFolder) ? undefined : normalized;
}

/**
 * Returns true if a file system treats the name as `.git`: some ignore characters, have short names or support streams.
 */
function isGitFolder(part: string): boolean {
  const cleaned = part
    .replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
    .replace(/:.*$/s, '')
    .replace(/[. ]+$/, '');
  return /^(\.git|git~1)$/i.test(cleaned);
}

const reservedOwnerPattern =
  /^(\.|\.\.|-|admin|api|assets|attachments|avatars|login|metrics|org|orgs|repo|swagger\..*|user|users|v2|ghost)$|\.(git|keys|rss|atom)$/i;

/** Returns an error message in Gitea's format if the organization name is invalid. */
export function validateOwnerName(name: string): string | undefined {
  if (name.length > 40) return '[UserName]: MaxSize';
  if (!/^[A-Za-z0-9_.-]+$/.test(name)) return '[UserName]: AlphaDashDot';
  return reservedOwnerPattern.test(name) ? `name is reserved [name: ${name}]` : undefined;
}
