import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import { Problem } from '../../../services/contracts/problem.ts';
import { openKernel, type Kernel } from '../kernel.ts';
import { createLog, type HostLog } from '../log/log.ts';
import { systemClock } from '../runtime/clock.ts';

/** Data folder of a command, and all services. */
export interface DataLocation {
  readonly dataDir: string;
  readonly descriptors: readonly ServiceDescriptor[];
}

/** Suppresses lines below a warning: the output of a command is for its user. */
export function quietLog(): HostLog {
  return createLog({ level: 'warn', format: 'text' });
}

/**
 * Opens the kernel for a command.
 * @throws Problem `config.invalid` (422) when the address of the database or a setting of S3 is invalid
 */
export async function openKernelQuietly(
  { dataDir, descriptors }: DataLocation,
  { readOnly, isMove = false }: { readonly readOnly: boolean; readonly isMove?: boolean },
): Promise<Kernel> {
  const kernel = await openKernel({
    dataDir,
    descriptors,
    environment: process.env,
    commandLine: {},
    clock: systemClock,
    log: quietLog(),
    readOnly,
    isMove,
    address: () => undefined,
    addresses: () => [],
    isDraining: () => false,
    getProblems: () => [],
    started: Promise.resolve(),
  });
  // The default would replace it, and the command would use the wrong tables or files.
  const bad = kernel.config.problems.find(({ path }) => /^host\.(databaseUrl|s3[A-Z])/.test(path));
  if (bad === undefined) return kernel;
  await kernel[Symbol.asyncDispose]();
  throw new Problem('config.invalid', 422, `${bad.path}: ${bad.message}`);
}

/** Runs work with a kernel that may change the data folder. */
export async function withKernel<T>(location: DataLocation, work: (kernel: Kernel) => Promise<T>): Promise<T> {
  await using kernel = await openKernelQuietly(location, { readOnly: false });
  return await work(kernel);
}
