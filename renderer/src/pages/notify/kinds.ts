import type { DestinationForm } from '../../../../services/contracts/notify/forms.ts';
import { getKindTitle } from '../../../../services/contracts/notify/kind-title.ts';

/** A group of kinds as the chooser shows it. */
export interface KindGroup {
  readonly title: string;
  readonly forms: readonly DestinationForm[];
}

const titles = [
  ['here', 'This machine'],
  ['phone', 'Phones'],
  ['chat', 'Chats'],
  ['mail', 'Mail'],
  ['home', 'Home'],
  ['duty', 'On call'],
  ['program', 'Programs and machines'],
  ['other', 'Others'],
] as const satisfies readonly (readonly [DestinationForm['category'], string])[];

/** How well a kind answers to a word: 3 its name or a scheme begins with it, 2 its name has it, 1 what is said of it has it. */
function rank({ title, schemes, about, category }: DestinationForm, word: string): number {
  const name = `${getKindTitle(title)} ${title}`.toLowerCase();
  if (name.startsWith(word) || schemes.some((scheme) => scheme.startsWith(word))) return 3;
  if (name.includes(word) || schemes.some((scheme) => scheme.includes(word))) return 2;
  const group = titles.find(([each]) => each === category)?.[1] ?? '';
  return `${about} ${group}`.toLowerCase().includes(word) ? 1 : 0;
}

/**
 * The kinds a person looks for, in groups: without words those used before first and then all by what they are for; with words
 * those that fit, the best first. `telegram://` finds as much as `telegram`.
 */
export function findKinds(forms: readonly DestinationForm[], text: string, before: readonly string[]): KindGroup[] {
  const words = text
    .toLowerCase()
    .replace(/:\/\/.*$/, '')
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length > 0) {
    const found = forms
      .map((form) => ({ form, rank: Math.min(...words.map((word) => rank(form, word))) }))
      .filter((each) => each.rank > 0)
      .toSorted((a, b) => b.rank - a.rank);
    return found.length === 0 ? [] : [{ title: 'Found', forms: found.map(({ form }) => form) }];
  }
  const used = before.flatMap((scheme) => forms.find((form) => form.scheme === scheme) ?? []);
  const rest = titles.map(([category, title]) => ({
    title,
    forms: forms
      .filter((form) => form.category === category && !used.includes(form))
      .toSorted((a, b) => (category === 'here' ? 0 : getKindTitle(a.title).localeCompare(getKindTitle(b.title)))),
  }));
  return [{ title: 'Used before', forms: used }, ...rest].filter((group) => group.forms.length > 0);
}

/** What has to be at hand to fill in a form: `token of the bot and chats`; empty when nothing is needed. */
export function needsOf({ fields }: DestinationForm): string {
  const labels = fields
    .filter(({ required }) => required)
    .map(({ label }) => (/^.[A-Z]/.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1)));
  return labels.length < 2 ? (labels[0] ?? '') : `${labels.slice(0, -1).join(', ')} and ${labels.at(-1) ?? ''}`;
}

/** Two letters and one of eight colours that stand for a kind. */
export function monogramOf(title: string): { readonly letters: string; readonly hue: number } {
  const words = title.split(/[\s-]+/).filter((word) => /^[\p{L}\p{N}]/u.test(word));
  const [first = '', second] = words;
  const letters = second === undefined ? first.slice(0, 2) : first.slice(0, 1) + second.slice(0, 1);
  const sum = [...title].reduce((total, letter) => (total * 33 + (letter.codePointAt(0) ?? 0)) % 9973, 7);
  return { letters, hue: sum % 8 };
}
