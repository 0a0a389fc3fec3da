import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Problem } from '../../services/contracts/problem.ts';
import type { Service, ServiceDescriptor } from '../../services/contracts/service.ts';
import { restoreBackup } from './backup/restore.ts';
import { writeBackup } from './backup/write.ts';
import { systemClock } from './clock.ts';
import type { Command } from './command-line.ts';
import { checkConfig } from './config/check.ts';
import { exportConfig, importConfig } from './config/portable.ts';
import { lockDataFolder } from './data-lock.ts';
import { openKernel, type Kernel } from './kernel.ts';
import { createLog } from './log.ts';
import { exportPortable, importPortable } from './portable.ts';
import { openServiceRoom } from './service-room.ts';

type Work = Exclude<Command, { readonly name: 'start' | 'help' | 'version' | 'invalid' }>;

interface Place {
  readonly dataDir: string;
  readonly descriptors: readonly ServiceDescriptor[];
}

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
      return check(command.file ?? join(place.dataDir, 'homeport.yaml'), place);
    case 'backup': {
      const { files, bytes } = await writeBackup(place.dataDir, command.file);
      print(
        `Saved ${files} files (${(bytes / 1024 / 1024).toFixed(1)} MiB) in ${command.file}. It holds the vault's key: keep it safe.`,
      );
      return;
    }
    case 'restore': {
      using _lock = lockDataFolder(place.dataDir);
      const former = await restoreBackup(place.dataDir, command.file, { force: command.force });
      print(
        `Restored ${command.file} into ${place.dataDir}.${former === undefined ? '' : ` What was there before is in ${former}.`}`,
      );
      return;
    }
    case 'engines list':
    case 'engines install': {
      await using kernel = await openQuietly(place);
      if (command.name === 'engines install') await install(kernel, command.engine);
      for (const { name, path, version, source, remedy } of await kernel.engines.list()) {
        print(path === null ? `${name}: missing. ${remedy ?? ''}` : `${name} ${version ?? ''} (${source}) ${path}`);
      }
      return;
    }
  }
}

async function install({ engines }: Kernel, wanted: 'yt-dlp' | 'ffmpeg' | 'ffprobe' | undefined): Promise<void> {
  const names = wanted === undefined ? (['yt-dlp', 'ffmpeg'] as const) : [wanted];
  for (const name of names) {
    if (wanted !== undefined || (await engines.find(name)).path === null) await engines.install(name);
  }
}

async function exportTo(file: string | undefined, secrets: boolean, place: Place): Promise<void> {
  await using kernel = await openQuietly(place);
  await using services = await openServices(kernel, place.descriptors);
  const { config, accounts, parts } = kernel;
  const portable = await exportPortable({ accounts, runners: services.all }, { secrets });
  const text = exportConfig({
    content: config.content(),
    descriptors: place.descriptors,
    portable,
    ...(secrets ? {} : { seal: (value: string, purpose: string) => parts.vault.seal(value, purpose) }),
  });
  if (file === undefined) process.stdout.write(text);
  else await writeFile(file, text, { mode: 0o600 });
}

async function importFrom(file: string, place: Place): Promise<void> {
  const text = await readText(file);
  using _lock = lockDataFolder(place.dataDir);
  await using kernel = await openQuietly(place);
  const { config, accounts, parts } = kernel;
  const found = importConfig(text, {
    descriptors: place.descriptors,
    open: (sealed, purpose) => parts.vault.open(sealed, purpose),
  });
  for (const { path, message } of found.warnings) process.stderr.write(`${path}: ${message}\n`);
  await config.replace(found.content);
  await using services = await openServices(kernel, place.descriptors);
  await importPortable(found.portable, { accounts, runners: services.all });
  print(`Imported ${file}.`);
}

async function check(file: string, { descriptors }: Place): Promise<void> {
  const { problems, warnings } = checkConfig(await readText(file), descriptors);
  for (const { path, line, message } of [...problems, ...warnings]) {
    print([path, line === undefined ? '' : `line ${line}`, message].filter((part) => part !== '').join(': '));
  }
  if (problems.length > 0) process.exitCode = 1;
  else print(`${file} is in order.`);
}

/** The kernel without a line on stderr below a warning: what a command prints is for the person who ran it. */
function openQuietly({ dataDir, descriptors }: Place): Promise<Kernel> {
  return openKernel({
    dataDir,
    descriptors,
    environment: process.env,
    commandLine: {},
    clock: systemClock,
    log: createLog({ level: 'warn', format: 'text' }),
    address: () => undefined,
    started: Promise.resolve(),
  });
}

/** Creates every service without starting it: enough to read and write what it keeps. */
async function openServices(
  kernel: Kernel,
  descriptors: readonly ServiceDescriptor[],
): Promise<AsyncDisposable & { readonly all: ReadonlyMap<string, { readonly service: Service }> }> {
  const stack = new AsyncDisposableStack();
  const all = new Map<string, { readonly service: Service }>();
  for (const descriptor of descriptors) {
    const settings = kernel.config.read().services[descriptor.id];
    if (descriptor.controlsHost === true || settings === undefined) continue;
    const { context } = stack.use(await openServiceRoom(descriptor, kernel.parts));
    all.set(descriptor.id, { service: stack.use(descriptor.create(context, settings.settings)) });
  }
  return { all, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

async function readText(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new Problem('command.file', 422, `${file} cannot be read: ${error.message}`, { cause: error });
  });
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
