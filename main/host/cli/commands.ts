import * as m from '#messages/command-line';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { defineNumberFormat } from '../../../messages/format.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { readText } from '../../../services/contracts/text.ts';
import { returning, staging } from '../backup/archive.ts';
import { finishRestore, restoreBackup } from '../backup/restore.ts';
import { isKeyReadable } from '../backup/restored-key.ts';
import { writeBackup } from '../backup/write.ts';
import { printResetLink } from './account-commands.ts';
import { runBlobCommand } from './blob-commands.ts';
import { printClusterStatus } from './cluster-commands.ts';
import { openKernelQuietly, quietLog, withKernel, type DataLocation } from './command-kernel.ts';
import type { Command } from './command-line.ts';
import { moveDatabase } from './database-commands.ts';
import { checkConfig } from '../config/check.ts';
import { openConfig } from '../config/file-config.ts';
import { formatSettingsProblem } from '../config/reason.ts';
import { exportConfig, importConfig } from '../config/portable.ts';
import { lockDataFolder } from '../runtime/data-lock.ts';
import { openServiceContext } from '../services/service-context.ts';
import { setKeyAside } from '../vault/replace-key.ts';
import { openEngines, type HostEngines } from '../engines/engines.ts';
import { findEnginesFolder } from '../engines/engines-folder.ts';
import { getEngineSpecs } from '../engines/specs.ts';
import { recordCommand } from '../log/record-command.ts';
import { exportPortable, importPortable, importProgramInto } from '../provisioning/portable.ts';
import { replacePrivateFile } from '../vault/key-file.ts';
import { readProvidedKey } from '../vault/provided-key.ts';

type RunnableCommand = Exclude<Command, { readonly name: 'start' | 'help' | 'version' | 'invalid' }>;

const formatSize = defineNumberFormat({ maximumFractionDigits: 1 });

/**
 * Executes a command that is not a start. Prints its result to stdout; reading commands work beside a running host.
 * @throws Problem with a message for the user.
 */
export async function runCommand(command: RunnableCommand, location: DataLocation): Promise<void> {
  switch (command.name) {
    case 'config export':
      return exportTo(command.file, command.secrets, location);
    case 'config import':
      return importFrom(command.file, location);
    case 'config check':
      return check(command.file, location);
    case 'import':
      return importProgramData(command, location);
    case 'backup':
      return backup(command.file, location);
    case 'restore':
      return restore(command.file, command.force, location);
    case 'blobs status':
    case 'blobs move':
      return manageBlobs(command, location);
    case 'database move':
      return moveTables(command, location);
    case 'cluster status':
      return printHosts(location);
    case 'accounts reset':
      requireDataFolder(location);
      finishInterruptedRestore(location);
      return printResetLink(command, location);
    case 'keys replace':
      return replaceKey(command, location);
    case 'engines list':
    case 'engines install':
    case 'engines remove': {
      const engines = await openBackupStore(location);
      if (command.name === 'engines install') await install(engines, command.engine);
      if (command.name === 'engines remove') await engines.remove(command.engine);
      for (const { name, path, version, source, remedy } of await engines.list()) {
        print(
          path === null
            ? m.engineMissingLine({ engine: name, remedy: remedy ?? '' })
            : `${name} ${version ?? ''} (${source}) ${path}`,
        );
      }
      return;
    }
  }
}

async function backup(file: string, location: DataLocation): Promise<void> {
  requireDataFolder(location);
  finishInterruptedRestore(location);
  await requireReadableKey(location);
  const config = await readConfig(location);
  const isDatabaseConfigured = config.read().host.databaseUrl !== '' || config.closed.includes('host.databaseUrl');
  const tables = !isDatabaseConfigured && existsSync(join(location.dataDir, 'host', 'db.sqlite'));
  const provided = await readProvidedKey(process.env);
  const { files, bytes } = await writeBackup(location.dataDir, file, {
    tables: tables ? 'here' : 'elsewhere',
    ...(provided !== undefined && { keyFile: `${provided.text}\n` }),
  });
  recordCommand(
    { dataDir: location.dataDir, format: config.read().host.logFormat },
    { event: 'backup_created', detail: basename(file) },
  );
  print(m.backupSaved({ count: files, size: formatSize(bytes / 1024 / 1024), file }));
  if (!tables) print(m.backupWithoutTables());
  if (config.read().host.s3Bucket !== '') print(m.backupWithoutBlobs());
}

/** A backup with a key that only the desktop's key store can open would be useless on another computer. */
async function requireReadableKey({ dataDir }: DataLocation): Promise<void> {
  if (await isKeyReadable(dataDir)) return;
  throw new Problem('backup.key_wrapped', 409, m.backupKeyWrapped());
}

async function restore(file: string, force: boolean, { dataDir }: DataLocation): Promise<void> {
  using _lock = lockDataFolder(dataDir);
  const { former, tables, renamed } = await restoreBackup(dataDir, file, { force });
  recordCommand({ dataDir, format: 'text' }, { event: 'backup_restored', detail: basename(file) });
  const folder = dataDir;
  print(former === undefined ? m.restored({ file, folder }) : m.restoredReplaced({ file, folder, former }));
  for (const { name, storedAs } of renamed) print(m.restoredUnderOtherName({ name, storedAs }));
  if (tables === 'elsewhere') print(m.restoredWithoutTables());
}

async function install(engines: HostEngines, engineName: string | undefined): Promise<void> {
  if (engineName !== undefined) await engines.install(engineName);
  else {
    for (const name of engines.needed) if ((await engines.find(name)).path === null) await engines.install(name);
  }
}

async function exportTo(file: string | undefined, secrets: boolean, location: DataLocation): Promise<void> {
  requireDataFolder(location);
  finishInterruptedRestore(location);
  await using kernel = await openKernelQuietly(location, { readOnly: true });
  const { config, parts } = kernel;
  const text = exportConfig({
    content: config.content(),
    descriptors: location.descriptors,
    portable: await exportPortable(kernel, location.descriptors, { secrets }),
    ...(secrets ? {} : { seal: (value: string, purpose: string) => parts.identities.vault.seal(value, purpose) }),
  });
  recordCommand(
    { dataDir: location.dataDir, format: config.read().host.logFormat },
    { event: 'data_exported', detail: secrets ? 'configuration with secrets' : 'configuration, secrets sealed' },
  );
  if (file === undefined) process.stdout.write(text);
  // Replaces a file that others may read, instead of writing into it.
  else
    await replacePrivateFile(file, text).catch((error: unknown) =>
      fail((reason) => m.fileUnwritable({ file, reason }), error),
    );
}

async function importFrom(file: string, location: DataLocation): Promise<void> {
  const text = await readTextFile(file);
  using _lock = lockDataFolder(location.dataDir);
  finishRestore(location.dataDir);
  const { content, portable, moves } = await withKernel(location, async ({ config, parts }) => {
    const open = (sealed: string, purpose: string): string => parts.identities.vault.open(sealed, purpose);
    const imported = importConfig(text, { descriptors: location.descriptors, open });
    for (const { path, message } of imported.warnings) process.stderr.write(`${path}: ${message}\n`);
    const moves = imported.content.host['databaseUrl'] !== config.content().host['databaseUrl'];
    // Applied first only when the tables move: portable data must go into the new tables.
    if (moves) await config.replace(imported.content);
    return { ...imported, moves };
  });
  await withKernel(location, async (kernel) => {
    // Settings are applied last: an invalid part then leaves them unchanged.
    await importPortable(portable, kernel, location.descriptors);
    if (!moves) await kernel.config.replace(content);
  });
  recordCommand(
    { dataDir: location.dataDir, format: 'text' },
    { event: 'settings_changed', detail: `imported from ${basename(file)}` },
  );
  print(m.imported({ file }));
}

/** Imports into a data folder without a running host; a missing folder is created. */
async function importProgramData(
  { program, folder, dryRun = false }: Extract<RunnableCommand, { name: 'import' }>,
  location: DataLocation,
): Promise<void> {
  using _lock = lockDataFolder(location.dataDir);
  finishRestore(location.dataDir);
  await withKernel(location, async (kernel) => {
    const { service, settings, notes } = await importProgramInto(kernel, location.descriptors, {
      program,
      folder: resolve(folder),
      dryRun,
    });
    if (Object.keys(settings).length > 0) {
      await kernel.config.change(service, settings);
      print(m.importedSettings({ names: Object.keys(settings).join(', ') }));
    }
    notes.forEach(print);
  });
}

/** A move requires that no host runs on the data folder, since it could write blobs to the former store. */
async function manageBlobs(command: Parameters<typeof runBlobCommand>[0], location: DataLocation): Promise<void> {
  requireDataFolder(location);
  if (command.name === 'blobs status') {
    finishInterruptedRestore(location);
    await using kernel = await openKernelQuietly(location, { readOnly: true });
    return await runBlobCommand(command, { ...location, kernel });
  }
  using _lock = lockDataFolder(location.dataDir);
  finishRestore(location.dataDir);
  await withKernel(location, (kernel) => runBlobCommand(command, { ...location, kernel }));
}

/** A move requires that no host runs on the data folder, since it could write to the former tables. */
async function moveTables(
  command: Extract<RunnableCommand, { name: 'database move' }>,
  location: DataLocation,
): Promise<void> {
  requireDataFolder(location);
  using _lock = lockDataFolder(location.dataDir);
  finishRestore(location.dataDir);
  await moveDatabase(command, location, (await readConfig(location)).read().host.databaseUrl);
}

async function printHosts(location: DataLocation): Promise<void> {
  requireDataFolder(location);
  await using kernel = await openKernelQuietly(location, { readOnly: true });
  await printClusterStatus(kernel);
}

/** Requires a data folder without a running host. */
async function replaceKey(
  { service, key }: Extract<RunnableCommand, { name: 'keys replace' }>,
  location: DataLocation,
): Promise<void> {
  const descriptor = location.descriptors.find(({ id }) => id === service);
  if (descriptor === undefined) throw new Problem('host.unknown_service', 404, m.serviceUnknown({ service }));
  using _lock = lockDataFolder(location.dataDir);
  finishRestore(location.dataDir);
  await withKernel(location, async ({ parts }) => {
    await using serviceContext = await openServiceContext(descriptor, parts);
    await setKeyAside(descriptor, key, serviceContext.context);
  });
  print(m.keyReplaced({ service: readText(descriptor.title), key }));
}

async function check(named: string | undefined, { dataDir, descriptors }: DataLocation): Promise<void> {
  const file = named ?? join(dataDir, 'homeport.yaml');
  if (named === undefined && !existsSync(file)) {
    print(m.configMissing({ file }));
    return;
  }
  const { problems, warnings } = checkConfig(await readTextFile(file), descriptors);
  for (const each of [...problems, ...warnings]) print(formatSettingsProblem(each));
  if (problems.length > 0) process.exitCode = 1;
  else print(m.configValid({ file }));
}

/** A mistyped folder must not be created and then reported as empty. */
function requireDataFolder({ dataDir }: DataLocation): void {
  if (!existsSync(dataDir)) throw new Problem('command.data_folder', 404, m.dataFolderMissing({ folder: dataDir }));
}

/** An incomplete restore must not be read, and only one process may complete it. A running host has done so. */
function finishInterruptedRestore({ dataDir }: DataLocation): void {
  if (![staging, returning].some((name) => existsSync(join(dataDir, name)))) return;
  using _lock = lockDataFolder(dataDir);
  finishRestore(dataDir);
}

function readConfig({ dataDir, descriptors }: DataLocation): ReturnType<typeof openConfig> {
  const log = quietLog().child('config');
  return openConfig({ dataDir, descriptors, environment: process.env, commandLine: {}, log, readOnly: true });
}

async function openBackupStore(location: DataLocation): Promise<HostEngines> {
  const { host, enginePaths } = (await readConfig(location)).read();
  const log = quietLog().child('engines');
  return openEngines({
    folder: findEnginesFolder(host, location.dataDir, log),
    specs: getEngineSpecs(location.descriptors),
    paths: () => enginePaths,
    log,
  });
}

async function readTextFile(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => fail((reason) => m.fileUnreadable({ file, reason }), error));
}

/** Reasons of failed file operations by system error. */
const fileReasons: Readonly<Record<string, () => string>> = {
  ENOENT: m.reasonNotFound,
  EACCES: m.reasonDenied,
  EISDIR: m.reasonFolder,
  ENOTDIR: m.reasonBelowFile,
  EEXIST: m.reasonBelowFile,
  ENOSPC: m.reasonDiskFull,
};

function fail(format: (reason: string) => string, error: unknown): never {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const reason = fileReasons[String(code)]?.() ?? (error instanceof Error ? error.message : String(error));
  throw new Problem('command.file', 422, format(reason), { cause: error });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
