import type { Command, CommandGroup } from './command.ts';
import { keep, readKeptJson, textsOf } from './local-storage.ts';

const most = 3;

/** What one person does is nothing to offer to the next one at this browser. */
const placeOf = (person: string): string => `homeport.last-commands ${person}`;

/** Remembers in this browser that a command was given by a person, unless it is meant for one moment. */
export function rememberCommand(person: string, { id, once = false }: Command): void {
  if (once) return;
  keep(placeOf(person), JSON.stringify([id, ...lastCommands(person).filter((each) => each !== id)].slice(0, most)));
}

/** What was done last stands above the rest, in a group of its own, as far as it can still be done. */
export function withLast(person: string, groups: readonly CommandGroup[]): readonly CommandGroup[] {
  const all = new Map(groups.flatMap(({ commands }) => commands.map((command) => [command.id, command] as const)));
  const last = lastCommands(person).flatMap((id) => all.get(id) ?? []);
  if (last.length === 0) return groups;
  const rest = groups.map((group) => ({ ...group, commands: group.commands.filter((each) => !last.includes(each)) }));
  return [{ title: 'Used last', commands: last }, ...rest].filter(({ commands }) => commands.length > 0);
}

function lastCommands(person: string): readonly string[] {
  return textsOf(readKeptJson(placeOf(person)));
}
