import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Problem } from '../../../services/contracts/problem.ts';
import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import { returning, staging } from '../backup/archive.ts';
import { finishRestore, restoreBackup } from '../backup/restore.ts';
import { writeBackup } from '../backup/write.ts';
import { systemClock } from '../runtime/clock.ts';
import type { Command } from './command-line.ts';
import { checkConfig } from '../config/check.ts';
import { openConfig } from '../config/file-config.ts';
import { settingsSentence } from '../config/reason.ts';
import { exportConfig, importConfig } from '../config/portable.ts';
import { lockDataFolder } from '../runtime/data-lock.ts';
import { openServiceContext } from '../services/service-context.ts';
import { setKeyAside } from '../vault/replace-key.ts';
import { openEngines, type HostEngines } from '../engines/engines.ts';
import { findEnginesFolder } from '../engines/engines-folder.ts';
import { enginesOf } from '../engines/specs.ts';
import { openKernel, type Kernel } from '../kernel.ts';
import { createLog, type HostLog } from '../log/log.ts';
import { recordCommand } from '../log/record-command.ts';
import { exportPortable, importPortable, takeOverInto } from './portable.ts';
import { replacePrivateFile } from '../vault/key-file.ts';

type Work = Exclude<Command, { readonly name: 'start' | 'help' | 'version' | 'invalid' }>;

interface Place {
  readonly dataDir: string;
  readonly descriptors: readonly ServiceDescriptor[];
}

const elsewhere =
  'The tables are in PostgreSQL and not in it: accounts, messages and the like. Save that database with pg_dump as well.';

/**
 * Carries out a command that is not a start. Prints its result to stdout; reading commands work beside a running host.
 * @throws Problem with a sentence for the person.
 */
export async function runCommand(command: Work, place: Place): Promise<void> {
  switch (command.name) {
    case 'config export':
      return exportTo(command.file, command.secrets, place);
    case 'config import':
      return importFrom(command.file, place);
    case 'config check':
      return check(command.file, place);
    case 'import':
      return takeOver(command, place);
    case 'backup':
      return backup(command.file, place);
    case 'restore':
      return restore(command.file, command.force, place);
    case 'keys replace':
      return replaceKey(command, place);
    case 'engines list':
    case 'engines install':
    case 'engines remove': {
      const engines = await openShelf(place);
      if (command.name === 'engines install') await install(engines, command.engine);
      if (command.name === 'engines remove') await engines.remove(command.engine);
      for (const { name, path, version, source, remedy } of await engines.list()) {
        print(path === null ? `${name}: missing. ${remedy ?? ''}` : `${name} ${version ?? ''} (${source}) ${path}`);
      }
      return;
    }
  }
}

async function backup(file: string, place: Place): Promise<void> {
  requireDataFolder(place);
  finishCutRestore(place);
  const config = await readConfig(place);
  const elsewhereSaid = config.read().host.databaseUrl !== '' || config.closed.includes('host.databaseUrl');
  const tables = !elsewhereSaid && existsSync(join(place.dataDir, 'host', 'db.sqlite'));
  const { files, bytes } = await writeBackup(place.dataDir, file, { tables: tables ? 'here' : 'elsewhere' });
  recordCommand(
    { dataDir: place.dataDir, format: config.read().host.logFormat },
    { event: 'backup_created', detail: basename(file) },
  );
  const size = (bytes / 1024 / 1024).toFixed(1);
  print(`Saved ${files} files (${size} MiB) in ${file}. It holds the vault's key: keep it safe.`);
  if (!tables) print(elsewhere);
}

async function restore(file: string, force: boolean, { dataDir }: Place): Promise<void> {
  using _lock = lockDataFolder(dataDir);
  const { former, tables } = await restoreBackup(dataDir, file, { force });
  recordCommand({ dataDir, format: 'text' }, { event: 'backup_restored', detail: basename(file) });
  print(`Restored ${file} into ${dataDir}.${former === undefined ? '' : ` What was there before is in ${former}.`}`);
  if (tables === 'elsewhere')
    print('The tables were in PostgreSQL and not in this backup: restore that database as well.');
}

async function install(engines: HostEngines, wanted: string | undefined): Promise<void> {
  if (wanted !== undefined) await engines.install(wanted);
  else {
    for (const name of engines.needed) if ((await engines.find(name)).path === null) await engines.install(name);
  }
}

async function exportTo(file: string | undefined, secrets: boolean, place: Place): Promise<void> {
  requireDataFolder(place);
  finishCutRestore(place);
  await using kernel = await openQuietly(place, { readOnly: true });
  const { config, parts } = kernel;
  const text = exportConfig({
    content: config.content(),
    descriptors: place.descriptors,
    portable: await exportPortable(kernel, place.descriptors, { secrets }),
    ...(secrets ? {} : { seal: (value: string, purpose: string) => parts.vault.seal(value, purpose) }),
  });
  recordCommand(
    { dataDir: place.dataDir, format: config.read().host.logFormat },
    { event: 'data_exported', detail: secrets ? 'configuration with secrets' : 'configuration, secrets sealed' },
  );
  if (file === undefined) process.stdout.write(text);
  // In place of one that others may read, not into it.
  else await replacePrivateFile(file, text).catch((error: unknown) => fail(`${file} cannot be written`, error));
}

async function importFrom(file: string, place: Place): Promise<void> {
  const text = await readText(file);
  using _lock = lockDataFolder(place.dataDir);
  finishRestore(place.dataDir);
  const { content, portable, moves } = await withKernel(place, async ({ config, parts }) => {
    const open = (sealed: string, purpose: string): string => parts.vault.open(sealed, purpose);
    const found = importConfig(text, { descriptors: place.descriptors, open });
    for (const { path, message } of found.warnings) process.stderr.write(`${path}: ${message}\n`);
    const moves = found.content.host['databaseUrl'] !== config.content().host['databaseUrl'];
    // Only then first: what goes into the tables is to go into the new ones.
    if (moves) await config.replace(found.content);
    return { ...found, moves };
  });
  await withKernel(place, async (kernel) => {
    // The settings last: a part that does not fit leaves them as they were.
    await importPortable(portable, kernel, place.descriptors);
    if (!moves) await kernel.config.replace(content);
  });
  recordCommand(
    { dataDir: place.dataDir, format: 'text' },
    { event: 'settings_changed', detail: `imported from ${basename(file)}` },
  );
  print(`Imported ${file}.`);
}

async function withKernel<T>(place: Place, work: (kernel: Kernel) => Promise<T>): Promise<T> {
  await using kernel = await openQuietly(place, { readOnly: false });
  return await work(kernel);
}

/** Into a data folder that no host is running on; a fresh one is made. */
async function takeOver(
  { program, folder, dryRun = false }: Extract<Work, { name: 'import' }>,
  place: Place,
): Promise<void> {
  using _lock = lockDataFolder(place.dataDir);
  finishRestore(place.dataDir);
  await withKernel(place, async (kernel) => {
    const { service, settings, notes } = await takeOverInto(kernel, place.descriptors, {
      program,
      folder: resolve(folder),
      dryRun,
    });
    if (Object.keys(settings).length > 0) {
      await kernel.config.change(service, settings);
      print(`Settings: ${Object.keys(settings).join(', ')}.`);
    }
    notes.forEach(print);
  });
}

/** In a data folder that no host is running on. */
async function replaceKey({ service, key }: Extract<Work, { name: 'keys replace' }>, place: Place): Promise<void> {
  const descriptor = place.descriptors.find(({ id }) => id === service);
  if (descriptor === undefined) throw new Problem('host.unknown_service', 404, `There is no service "${service}".`);
  using _lock = lockDataFolder(place.dataDir);
  finishRestore(place.dataDir);
  await withKernel(place, async ({ parts }) => {
    await using room = await openServiceContext(descriptor, parts);
    await setKeyAside(descriptor, key, room.context);
  });
  print(`${descriptor.title} makes a new key "${key}" at its next start.`);
}

async function check(named: string | undefined, { dataDir, descriptors }: Place): Promise<void> {
  const file = named ?? join(dataDir, 'homeport.yaml');
  if (named === undefined && !existsSync(file)) {
    print(`There is no ${file}: everything is at its default.`);
    return;
  }
  const { problems, warnings } = checkConfig(await readText(file), descriptors);
  for (const each of [...problems, ...warnings]) print(settingsSentence(each));
  if (problems.length > 0) process.exitCode = 1;
  else print(`${file} is in order.`);
}

/** A mistyped folder must not be made and then found empty. */
function requireDataFolder({ dataDir }: Place): void {
  if (!existsSync(dataDir)) throw new Problem('command.data_folder', 404, `There is no data folder ${dataDir}.`);
}

/** Half of a restored folder must not be read, and only one process may finish it. A host that runs has done so. */
function finishCutRestore({ dataDir }: Place): void {
  if (![staging, returning].some((name) => existsSync(join(dataDir, name)))) return;
  using _lock = lockDataFolder(dataDir);
  finishRestore(dataDir);
}

/** No line on stderr below a warning: what a command prints is for the person who ran it. */
function quietLog(): HostLog {
  return createLog({ level: 'warn', format: 'text' });
}

function readConfig({ dataDir, descriptors }: Place): ReturnType<typeof openConfig> {
  const log = quietLog().child('config');
  return openConfig({ dataDir, descriptors, environment: process.env, commandLine: {}, log, readOnly: true });
}

async function openShelf(place: Place): Promise<HostEngines> {
  const { host, enginePaths } = (await readConfig(place)).read();
  const log = quietLog().child('engines');
  return openEngines({
    folder: findEnginesFolder(host, place.dataDir, log),
    specs: enginesOf(place.descriptors),
    paths: () => enginePaths,
    log,
  });
}

async function openQuietly(
  { dataDir, descriptors }: Place,
  { readOnly }: { readonly readOnly: boolean },
): Promise<Kernel> {
  const kernel = await openKernel({
    dataDir,
    descriptors,
    environment: process.env,
    commandLine: {},
    clock: systemClock,
    log: quietLog(),
    readOnly,
    address: () => undefined,
    addresses: () => [],
    started: Promise.resolve(),
  });
  // The default would stand in for it, and the command would read or write other tables than those that are meant.
  const bad = kernel.config.problems.find(({ path }) => path === 'host.databaseUrl');
  if (bad === undefined) return kernel;
  await kernel[Symbol.asyncDispose]();
  throw new Problem('config.invalid', 422, `${bad.path}: ${bad.message}`);
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => fail(`${file} cannot be read`, error));
}

function fail(what: string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'there is no such file or folder',
    EACCES: 'this user may not',
    EISDIR: 'it is a folder',
    ENOTDIR: 'it lies below a file',
    EEXIST: 'it lies below a file',
    ENOSPC: 'the disk is full',
  };
  const reason = reasons[String(code)] ?? (error instanceof Error ? error.message : String(error));
  throw new Problem('command.file', 422, `${what}: ${reason}.`, { cause: error });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
