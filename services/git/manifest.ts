import * as m from '#messages/git-settings';
import * as texts from '#messages/manifests';
import { liveTopic } from '../contracts/control/live.ts';
import { gitIssuesChanged, gitPushed } from '../contracts/git/topics.ts';
import { defineManifest } from '../contracts/service.ts';
import { gitEngine } from './engine/engine-spec.ts';
import { excludedFolders } from './repositories/backup.ts';
import { loadOnDemand } from './load-on-demand.ts';
import { environment, Settings } from './settings.ts';
import { issueMigrations } from './store/issue-migrations.ts';
import { migrations } from './store/migrations.ts';

/** Git hosting: repositories over HTTP and SSH, with Gitea's API. */
export const manifest = defineManifest({
  id: 'git',
  title: texts.gitTitle,
  group: 'data',
  summary: texts.gitSummary,
  sharedSummary: texts.gitSharedSummary,
  listeners: [
    {
      name: 'http',
      title: texts.gitHttpListener,
      protocol: 'http',
      port: 3030,
      crossOrigin: 'credentialed',
      authenticates: true,
    },
    {
      name: 'ssh',
      title: texts.gitSshListener,
      protocol: 'tcp',
      scheme: 'ssh',
      port: 2222,
      whenShared: texts.gitSshShared,
    },
  ],
  settings: Settings,
  environment,
  mainSettings: [
    'enabled',
    'publicUrl',
    'requireSignIn',
    'defaultPrivate',
    'defaultBranch',
    'createOnPush',
    'maxPushMegabytes',
    'noticeBranches',
  ],
  settingGroups: [
    { heading: m.groupAccess, settings: ['publicUrl', 'requireSignIn'] },
    { heading: m.groupNewRepositories, settings: ['defaultPrivate', 'defaultBranch', 'createOnPush'] },
    { heading: m.groupPushes, settings: ['maxPushMegabytes', 'noticeBranches'] },
  ],
  loadOnDemand,
  engines: [gitEngine],
  keys: { table: 'host_keys', files: { 'ssh-ed25519': ['ssh_host_ed25519_key'], 'ssh-rsa': ['ssh_host_rsa_key'] } },
  blobs: ['lfs/objects', 'release-assets'],
  migrations: [...migrations, ...issueMigrations],
  live: [liveTopic(gitPushed, 'user'), liveTopic(gitIssuesChanged, 'user')],
  grantable: [{ service: 'git', title: texts.gitGrant, example: 'ada/*' }],
  // Folders of merges and exports contain only temporary files.
  excludedFromCopy: [...excludedFolders, 'merges', 'portable'],
});
