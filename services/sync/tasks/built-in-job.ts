import type { Context } from '../../contracts/service.ts';
import type { Input } from '../access/input.ts';
import type { Engine } from '../engine/engine.ts';
import type { Job, JobOutcome } from '../jobs/job.ts';
import { isLocal, runLocalSync } from './local-job.ts';

/** Returns the work of a copy or sync between local folders that needs no rclone, while rclone is not installed. */
export async function findBuiltInJob(
  engine: Engine,
  context: Context,
  path: string,
  input: Input,
): Promise<((job: Job) => Promise<JobOutcome>) | undefined> {
  const { srcFs: source, dstFs: destination } = input;
  if ((path !== 'sync/sync' && path !== 'sync/copy') || !isLocal(source, destination)) return undefined;
  const isPlain = Object.keys(input).every((key) => key === 'srcFs' || key === 'dstFs');
  if (!isPlain || (await engine.isInstalled())) return undefined;
  const mode = path === 'sync/sync' ? 'sync' : 'copy';
  return (job) => runLocalSync(job, context, { mode, source: String(source), destination: String(destination) });
}
