import type { CommandGroup } from './command.ts';
import { keep, readKeptJson, textsOf } from './kept.ts';

const place = 'homeport.last-commands';
const most = 3;

/** Remembers in this browser that a command was given. */
export function rememberCommand(id: string): void {
  keep(place, JSON.stringify([id, ...lastCommands().filter((each) => each !== id)].slice(0, most)));
}

/** What was done last stands above the rest, in a group of its own, as far as it can still be done. */
export function withLast(groups: readonly CommandGroup[]): readonly CommandGroup[] {
  const all = new Map(groups.flatMap(({ commands }) => commands.map((command) => [command.id, command] as const)));
  const last = lastCommands().flatMap((id) => all.get(id) ?? []);
  if (last.length === 0) return groups;
  const rest = groups.map((group) => ({ ...group, commands: group.commands.filter((each) => !last.includes(each)) }));
  return [{ title: 'Used last', commands: last }, ...rest].filter(({ commands }) => commands.length > 0);
}

function lastCommands(): readonly string[] {
  return textsOf(readKeptJson(place));
}
