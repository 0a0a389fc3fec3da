const mentionPattern = /(?<![\w@/.+-])@([A-Za-z0-9][-_.+A-Za-z0-9]{0,63})/g;
const referencePattern = new RegExp(
  String.raw`(?:(?<![\w-])(?<word>close[sd]?|fix(?:e[sd])?|resolve[sd]?|reopen(?:s|ed)?)(?::[ \t]+|[ \t]+(?::[ \t]+)?))?` +
    String.raw`(?<![\w#/.-])(?<repository>[\w.-]+\/[\w.-]+)?[#!](?<number>\d{1,9})(?!\w)`,
  'gi',
);

/** Finds the account names that a text mentions with `@`. Code spans and code blocks are ignored. */
export function findMentions(text: string): readonly string[] {
  return [
    ...new Set([...withoutCode(text).matchAll(mentionPattern)].map(([, name = '']) => name.replace(/[.+-]+$/, ''))),
  ];
}

/** Issue that a text refers to, with the action that the text requests. */
export interface IssueReference {
  readonly number: number;
  readonly action: 'none' | 'close' | 'reopen';
}

/** Maximum length of text that is scanned. */
const maxScannedLength = 65_536;

/** Finds the issues of the repository `owner/name` that a text refers to: `#3`, `fixes #3`, `closes owner/name#3`. */
export function findReferences(text: string, fullName: string): readonly IssueReference[] {
  const references = new Map<number, IssueReference>();
  for (const { groups = {} } of withoutCode(text).matchAll(referencePattern)) {
    const { word = '', repository, number: digits } = groups;
    if (repository !== undefined && repository.toLowerCase() !== fullName.toLowerCase()) continue;
    const number = Number(digits);
    const action = word === '' ? 'none' : word.toLowerCase().startsWith('reopen') ? 'reopen' : 'close';
    if (action !== 'none' || !references.has(number)) references.set(number, { number, action });
  }
  return [...references.values()];
}

/** Issue of another repository that a text refers to. */
export interface ForeignReference {
  readonly owner: string;
  readonly name: string;
  readonly number: number;
}

/** Finds the issues of repositories other than `owner/name` that a text refers to, each once. */
export function findForeignReferences(text: string, fullName: string): readonly ForeignReference[] {
  const references = new Map<string, ForeignReference>();
  for (const { groups = {} } of withoutCode(text).matchAll(referencePattern)) {
    const { repository, number } = groups;
    if (repository === undefined || repository.toLowerCase() === fullName.toLowerCase()) continue;
    const [owner = '', name = ''] = repository.split('/');
    references.set(`${repository.toLowerCase()}#${number ?? ''}`, { owner, name, number: Number(number) });
  }
  return [...references.values()];
}

function withoutCode(text: string): string {
  return text.slice(0, maxScannedLength).replaceAll(/```[\s\S]*?(?:```|$)|`[^`\n]*`/g, ' ');
}

const draftPattern = /^\s*(?:wip:|\[wip\])/i;

/** Returns true if the title of a pull request marks it as work in progress. */
export function isDraftTitle(title: string): boolean {
  return draftPattern.test(title);
}

/** Parses the color of a label into six hexadecimal digits. Returns undefined if the color is invalid. */
export function parseLabelColor(text: string): string | undefined {
  const digits = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())?.[1]?.toLowerCase();
  return digits?.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits;
}
