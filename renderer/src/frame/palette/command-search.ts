import { foldText } from '../../state/search-text.ts';
import type { Command, CommandGroup } from './command.ts';

/**
 * Returns the commands that match the typed text: each typed word is a prefix of a word of the title or of a keyword.
 */
export function filterCommands(groups: readonly CommandGroup[], typed: string): readonly CommandGroup[] {
  const typedWords = splitTerms(typed);
  if (typedWords.length === 0) return groups;
  return groups
    .map(({ title, commands }) => ({
      title,
      commands: commands.filter((command) => matchesCommand(command, typedWords)),
    }))
    .filter(({ commands }) => commands.length > 0);
}

/**
 * Sorts matching commands and search results by rank, and the groups by their best entry. Groups with the same title
 * are merged. Groups that may be very large keep their order and come last.
 */
export function rankGroups(groups: readonly CommandGroup[], typed: string): readonly CommandGroup[] {
  const merged = [...Map.groupBy(groups, ({ title }) => title).values()].map(mergeGroups);
  if (splitTerms(typed).length === 0) return merged;
  const sorted = merged.map((group) => {
    if (group.many) return { group, best: Infinity };
    const commands = group.commands.toSorted((a, b) => getRank(a, typed) - getRank(b, typed));
    return { group: { ...group, commands }, best: Math.min(...commands.map((command) => getRank(command, typed))) };
  });
  return sorted.toSorted((a, b) => (a.best === b.best ? 0 : a.best - b.best)).map(({ group }) => group);
}

function mergeGroups(groups: readonly CommandGroup[]): CommandGroup {
  const commands = groups.flatMap((group) => group.commands);
  const ids = commands.map(({ id }) => id);
  return { ...groups[0]!, commands: commands.filter(({ id }, index) => ids.indexOf(id) === index) };
}

function matchesCommand({ title, keywords }: Command, typedWords: readonly string[]): boolean {
  return matchesAllWords([title, ...keywords].join(' '), typedWords);
}

/** Ranks a title: 0 for an equal title, 1 for a prefix, 2 when it contains all words, 3 when only keywords match. */
function getRank({ title }: Command, typed: string): number {
  const foldedTitle = foldText(title);
  const query = foldText(typed.trim());
  if (foldedTitle === query) return 0;
  if (foldedTitle.startsWith(query)) return 1;
  return matchesAllWords(title, splitTerms(typed)) ? 2 : 3;
}

function matchesAllWords(text: string, typedWords: readonly string[]): boolean {
  const textWords = splitTerms(text);
  return typedWords.every((word) => textWords.some((each) => each.startsWith(word)));
}

/** Splits at apostrophes too, so that an elided article such as `l’` does not hide the word after it. */
function splitTerms(text: string): string[] {
  return foldText(text)
    .split(/[\s/']+/)
    .filter(Boolean);
}
