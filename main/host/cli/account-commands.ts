import * as m from '#messages/command-line';
import { defineDateFormat } from '../../../messages/format.ts';
import { recordCommand } from '../log/record-command.ts';
import { DataFolderTaken, lockDataFolder, type DataLock } from '../runtime/data-lock.ts';
import { openKernelQuietly, type DataLocation } from './command-kernel.ts';
import type { Command } from './command-line.ts';

type ResetCommand = Extract<Command, { readonly name: 'accounts reset' }>;

const formatTime = defineDateFormat({ dateStyle: 'medium', timeStyle: 'short' });

/**
 * Creates a link that sets a new password, and prints it to stdout. Works beside a running host: the link is a row of
 * its tables, which the host reads when the link is opened.
 * @throws Problem `accounts.unknown` (404), `accounts.link_not_possible` (409), `accounts.provisioned` (409)
 */
export async function printResetLink({ account, secondFactor }: ResetCommand, location: DataLocation): Promise<void> {
  using folder = openFolder(location.dataDir);
  await using kernel = await openKernelQuietly(location, { readOnly: true });
  const options = { removesSecondFactor: secondFactor, createdBy: '' };
  const { link, token } = await kernel.accounts.oneTimeLinks.createReset(account, options);
  const { host, services } = kernel.config.read();
  recordCommand(
    { dataDir: location.dataDir, format: host.logFormat },
    { event: 'link_created', detail: `reset of ${account}${secondFactor ? ', second factor' : ''}` },
  );
  print(m.resetLink({ name: account, expires: formatTime(link.expiresAt) }));
  const pages = folder.pages ?? [`http://localhost:${String(services['control']?.port ?? 7700)}/link`];
  for (const page of pages) print(`${page}#${token}`);
  if (secondFactor) print(m.resetLinkSecondFactor({ name: account }));
  if (!folder.isInUse) print(m.resetLinkStartFirst());
}

interface OpenedFolder extends Disposable {
  readonly isInUse: boolean;
  /** Pages of the running host; undefined while it starts, and without one. */
  readonly pages: readonly string[] | undefined;
}

/** Locks the data folder, or finds the host that uses it. */
function openFolder(dataDir: string): OpenedFolder {
  let lock: DataLock;
  try {
    lock = lockDataFolder(dataDir);
  } catch (error) {
    if (!(error instanceof DataFolderTaken)) throw error;
    return { isInUse: true, pages: error.holder?.oneTimeLinkPages, [Symbol.dispose]: () => undefined };
  }
  return { isInUse: false, pages: undefined, [Symbol.dispose]: () => lock[Symbol.dispose]() };
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
