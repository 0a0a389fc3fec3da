import type { Command, CommandGroup } from './commands.svelte.ts';

/**
 * The commands that fit what was typed: every word of it begins a word of the title, or of the others it is found by. Titles
 * that begin with it come first in their group.
 */
export function fitting(groups: readonly CommandGroup[], typed: string): readonly CommandGroup[] {
  const asked = wordsOf(typed);
  if (asked.length === 0) return groups;
  return groups
    .map(({ title, commands }) => ({ title, commands: commands.filter((command) => fits(command, asked)) }))
    .filter(({ commands }) => commands.length > 0)
    .map(({ title, commands }) => ({ title, commands: commands.toSorted((a, b) => rank(a, typed) - rank(b, typed)) }));
}

function fits({ title, words }: Command, asked: readonly string[]): boolean {
  const known = wordsOf([title, ...words].join(' '));
  return asked.every((word) => known.some((each) => each.startsWith(word)));
}

function rank({ title }: Command, typed: string): number {
  return title.toLowerCase().startsWith(typed.trim().toLowerCase()) ? 0 : 1;
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s/]+/)
    .filter(Boolean);
}
