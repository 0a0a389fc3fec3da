import * as m from '#messages/frame';
import type { Command, CommandGroup } from './command.ts';
import { writeLocalStorage, readLocalStorageJson, toStrings } from '../../state/local-storage.ts';

const maxCommands = 3;

/** Recent commands are stored separately for each account of the browser. */
const toStorageKey = (account: string): string => `homeport.last-commands ${account}`;

/** Stores a command as recent for an account, except for one that must not be repeated. */
export function storeRecentCommand(account: string, { id, once = false }: Command): void {
  if (once) return;
  writeLocalStorage(
    toStorageKey(account),
    JSON.stringify([id, ...readRecentIds(account).filter((each) => each !== id)].slice(0, maxCommands)),
  );
}

/** Moves the recent commands that are still available to a group at the top. */
export function withRecentCommands(account: string, groups: readonly CommandGroup[]): readonly CommandGroup[] {
  const all = new Map(groups.flatMap(({ commands }) => commands.map((command) => [command.id, command] as const)));
  const recent = readRecentIds(account).flatMap((id) => all.get(id) ?? []);
  if (recent.length === 0) return groups;
  const rest = groups.map((group) => ({ ...group, commands: group.commands.filter((each) => !recent.includes(each)) }));
  return [{ title: m.usedLast(), commands: recent }, ...rest].filter(({ commands }) => commands.length > 0);
}

function readRecentIds(account: string): readonly string[] {
  return toStrings(readLocalStorageJson(toStorageKey(account)));
}
