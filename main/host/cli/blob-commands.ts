import * as m from '#messages/command-line';
import { defineNumberFormat } from '../../../messages/format.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import { readText } from '../../../services/contracts/text.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import { getInstallation, openLocalStore, openRemoteStore } from '../blobs/open-blob-store.ts';
import { countBlobs, listServiceBlobs, moveBlobs, type BlobTotal } from '../blobs/move-blobs.ts';
import { readS3Settings } from '../blobs/s3-settings.ts';
import type { Kernel } from '../kernel.ts';
import type { BlobPlace, Command } from './command-line.ts';

type BlobCommand = Extract<Command, { readonly name: 'blobs status' | 'blobs move' }>;

const formatSize = defineNumberFormat({ maximumFractionDigits: 1 });

/** Data folder without a running host, and the services. */
interface CommandEnvironment {
  readonly dataDir: string;
  readonly descriptors: readonly ServiceDescriptor[];
  readonly kernel: Kernel;
}

/**
 * Executes a command about the stores of blobs. Prints its result to stdout.
 * @throws Problem `blobs.settings` (422) when it needs S3 without settings, and those of the stores
 */
export async function runBlobCommand(command: BlobCommand, environment: CommandEnvironment): Promise<void> {
  if (command.name === 'blobs move') return move(command, environment);
  await printTotals(environment, 'local');
  const { host } = environment.kernel.config.read();
  if ((await readS3Settings(host)) === undefined) process.stdout.write(`${m.blobsOnlyLocal()}\n`);
  else await printTotals(environment, 's3');
}

async function printTotals(environment: CommandEnvironment, place: BlobPlace): Promise<void> {
  const { dataDir, descriptors } = environment;
  await using store = await openStore(environment, place);
  for (const source of listServiceBlobs(store, dataDir, descriptors))
    printLine(place, getTitle(environment, source.service), await countBlobs(source));
}

async function move(
  { from, to, dryRun }: Extract<BlobCommand, { readonly name: 'blobs move' }>,
  environment: CommandEnvironment,
): Promise<void> {
  const { dataDir, descriptors } = environment;
  await using source = await openStore(environment, from);
  await using target = await openStore(environment, to);
  const targets = new Map(listServiceBlobs(target, dataDir, descriptors).map((each) => [each.service, each.blobs]));
  for (const each of listServiceBlobs(source, dataDir, descriptors)) {
    const blobs = targets.get(each.service);
    if (dryRun || blobs === undefined) printLine(from, getTitle(environment, each.service), await countBlobs(each));
    else printLine(to, getTitle(environment, each.service), await moveBlobs(each, blobs));
  }
  process.stdout.write(`${dryRun ? m.blobsNotMoved() : m.blobsMoved()}\n`);
}

async function openStore({ kernel }: CommandEnvironment, place: BlobPlace): Promise<BlobStore> {
  if (place === 'local') return openLocalStore();
  const settings = await readS3Settings(kernel.config.read().host);
  if (settings === undefined) throw new Problem('blobs.settings', 422, m.blobsWithoutS3());
  const { observation, runtime, identities } = kernel.parts;
  const log = observation.log.child('blobs');
  return openRemoteStore(settings, { clock: runtime.clock, log, installation: getInstallation(identities.vault) });
}

function getTitle({ descriptors }: CommandEnvironment, service: string): string {
  return readText(descriptors.find(({ id }) => id === service)?.title ?? service);
}

function printLine(place: BlobPlace, service: string, { count, bytes }: BlobTotal): void {
  const size = formatSize(bytes / 1024 / 1024);
  process.stdout.write(`${m.blobsLine({ place: place === 's3' ? 'S3' : m.blobsLocal(), service, count, size })}\n`);
}
