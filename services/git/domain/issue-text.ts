const mention = /(?<![\w@/.+-])@([A-Za-z0-9][-_.+A-Za-z0-9]{0,63})/g;
const reference =
  /(?:(?<![\w-])(?<word>close[sd]?|fix(?:e[sd])?|resolve[sd]?|reopen(?:s|ed)?)(?::[ \t]+|[ \t]+(?::[ \t]+)?))?(?<![\w#/.-])(?<place>[\w.-]+\/[\w.-]+)?[#!](?<number>\d{1,9})(?!\w)/gi;

/** Names that a text calls with an `@`; what stands as code calls nobody. */
export function mentionsIn(text: string): readonly string[] {
  return [...new Set([...withoutCode(text).matchAll(mention)].map(([, name = '']) => name.replace(/[.+-]+$/, '')))];
}

/** An issue that a text names, and what the text says is to happen to it. */
export interface IssueReference {
  readonly number: number;
  readonly action: 'none' | 'close' | 'reopen';
}

/** Of longer texts the beginning is looked at. */
const mostLooked = 65_536;

/** Issues of the repository `owner/name` that a text names: `#3`, `fixes #3`, `closes owner/name#3`. */
export function referencesIn(text: string, full: string): readonly IssueReference[] {
  const found = new Map<number, IssueReference>();
  for (const { groups = {} } of withoutCode(text).matchAll(reference)) {
    const { word = '', place, number: digits } = groups;
    if (place !== undefined && place.toLowerCase() !== full.toLowerCase()) continue;
    const number = Number(digits);
    const action = word === '' ? 'none' : word.toLowerCase().startsWith('reopen') ? 'reopen' : 'close';
    if (action !== 'none' || !found.has(number)) found.set(number, { number, action });
  }
  return [...found.values()];
}

function withoutCode(text: string): string {
  return text.slice(0, mostLooked).replaceAll(/```[\s\S]*?(?:```|$)|`[^`\n]*`/g, ' ');
}

const draft = /^\s*(?:wip:|\[wip\])/i;

/** Whether the title of a pull request says that it is not ready. */
export function isDraftTitle(title: string): boolean {
  return draft.test(title);
}

/** The colour of a label without its `#`, in full; undefined for what is none. */
export function labelColor(text: string): string | undefined {
  const digits = /^#?([0-9a-f]{3}|[0-9a-f]{6})$/i.exec(text.trim())?.[1]?.toLowerCase();
  return digits?.length === 3 ? [...digits].map((digit) => digit + digit).join('') : digits;
}
