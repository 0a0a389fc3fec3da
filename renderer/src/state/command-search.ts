import type { Command, CommandGroup } from './command.ts';

/** The commands that fit what was typed: every word of it begins a word of the title, or of the others it is found by. */
export function fitting(groups: readonly CommandGroup[], typed: string): readonly CommandGroup[] {
  const asked = wordsOf(typed);
  if (asked.length === 0) return groups;
  return groups
    .map(({ title, commands }) => ({ title, commands: commands.filter((command) => fits(command, asked)) }))
    .filter(({ commands }) => commands.length > 0);
}

/**
 * What fits and what was found, the best match first whatever it is: in each group, and the group that has it before the others.
 * Groups of one title become one. What there is a great deal of stays below, in its own order.
 */
export function ranked(groups: readonly CommandGroup[], typed: string): readonly CommandGroup[] {
  const merged = [...Map.groupBy(groups, ({ title }) => title).values()].map(one);
  if (wordsOf(typed).length === 0) return merged;
  const sorted = merged.map((group) => {
    if (group.many) return { group, best: Infinity };
    const commands = group.commands.toSorted((a, b) => rank(a, typed) - rank(b, typed));
    return { group: { ...group, commands }, best: Math.min(...commands.map((command) => rank(command, typed))) };
  });
  return sorted.toSorted((a, b) => (a.best === b.best ? 0 : a.best - b.best)).map(({ group }) => group);
}

function one(groups: readonly CommandGroup[]): CommandGroup {
  const commands = groups.flatMap((group) => group.commands);
  const ids = commands.map(({ id }) => id);
  return { ...groups[0]!, commands: commands.filter(({ id }, index) => ids.indexOf(id) === index) };
}

function fits({ title, words }: Command, asked: readonly string[]): boolean {
  return haveAll([title, ...words].join(' '), asked);
}

/** How far a title is from what was typed: it is that, begins with it, has its words, or is found by others. */
function rank({ title }: Command, typed: string): number {
  const [whole, wanted] = [title.toLowerCase(), typed.trim().toLowerCase()];
  if (whole === wanted) return 0;
  if (whole.startsWith(wanted)) return 1;
  return haveAll(title, wordsOf(typed)) ? 2 : 3;
}

function haveAll(text: string, asked: readonly string[]): boolean {
  const known = wordsOf(text);
  return asked.every((word) => known.some((each) => each.startsWith(word)));
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s/]+/)
    .filter(Boolean);
}
