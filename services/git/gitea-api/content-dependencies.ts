import type { LfsStore } from '../lfs/lfs-store.ts';
import type { LastCommits } from '../repositories/last-commits.ts';
import type { ApiDependencies } from './api-dependencies.ts';

export interface ContentDependencies extends ApiDependencies {
  readonly lastCommits: LastCommits;
  readonly lfs: LfsStore;
}
