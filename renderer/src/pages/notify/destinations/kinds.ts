import * as m from '#messages/notify';
import { formatList } from '../../../../../messages/format.ts';
import type { DestinationForm } from '../../../../../services/contracts/notify/forms.ts';
import { compareNames } from '../../../../../services/contracts/compare-names.ts';
import { getKindTitle } from '../../../../../services/contracts/notify/kind-title.ts';
import { foldText, splitTerms } from '../../../state/search-text.ts';

/** A group of kinds in the combobox. */
export interface KindGroup {
  readonly title: string;
  readonly forms: readonly DestinationForm[];
}

const titles = [
  ['here', m.thisMachine],
  ['phone', m.phones],
  ['chat', m.chats],
  ['mail', m.mail],
  ['home', m.home],
  ['duty', m.onCall],
  ['program', m.programsAndMachines],
  ['other', m.others],
] as const satisfies readonly (readonly [DestinationForm['category'], () => string])[];

/**
 * Ranks a kind for a word: 3 for a prefix of its name or of a scheme, 2 when the name contains it, 1 for its
 * description.
 */
function getRank({ title, schemes, about, category }: DestinationForm, word: string): number {
  const name = foldText(`${getKindTitle(title)} ${title}`);
  if (name.startsWith(word) || schemes.some((scheme) => scheme.startsWith(word))) return 3;
  if (name.includes(word) || schemes.some((scheme) => scheme.includes(word))) return 2;
  const group = titles.find(([each]) => each === category)?.[1]() ?? '';
  return foldText(`${about} ${group}`).includes(word) ? 1 : 0;
}

/**
 * Returns the kinds in groups: without words the suggested ones and then all by category; with words the matching
 * ones, best first. `telegram://` matches like `telegram`.
 */
export function findKinds(forms: readonly DestinationForm[], text: string, suggested: readonly string[]): KindGroup[] {
  const terms = splitTerms(text.replace(/:\/\/.*$/, ''));
  if (terms.length > 0) {
    const matching = forms
      .map((form) => ({ form, rank: Math.min(...terms.map((word) => getRank(form, word))) }))
      .filter((each) => each.rank > 0)
      .toSorted((a, b) => b.rank - a.rank);
    return matching.length === 0 ? [] : [{ title: m.found(), forms: matching.map(({ form }) => form) }];
  }
  const used = suggested.flatMap((scheme) => forms.find((form) => form.scheme === scheme) ?? []);
  const others = titles.map(([category, title]) => ({
    title: title(),
    forms: forms
      .filter((form) => form.category === category && !used.includes(form))
      .toSorted((a, b) => (category === 'here' ? 0 : compareNames(getKindTitle(a.title), getKindTitle(b.title)))),
  }));
  return [{ title: m.usedBefore(), forms: used }, ...others].filter((group) => group.forms.length > 0);
}

/** Lists the labels of the required fields of a form; empty when there are none. */
export function formatRequirements({ fields }: DestinationForm): string {
  return formatList(
    fields.filter(({ required }) => required).map(({ label }) => label),
    'unit',
  );
}
