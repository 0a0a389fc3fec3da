import { removeTree } from '../../kit/platform/file-replacement.ts';
import type { Context } from '../../contracts/service.ts';
import type { Engine } from '../engine/engine.ts';
import { refuseReplacedFilesLinks } from './links.ts';
import { isLocal } from './local-job.ts';
import { RcloneMover } from './rclone-mover.ts';

/** Deletes a folder with replaced files. */
export async function purge(context: Context, engine: Engine, location: string): Promise<void> {
  if (isLocal(location)) {
    await refuseReplacedFilesLinks(location, '');
    return await removeTree(location);
  }
  const options = { group: 'upkeep', exclude: [], signal: new AbortController().signal };
  await new RcloneMover(engine, context).purge(location, options);
}
