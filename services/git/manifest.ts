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
  title: 'Code',
  group: 'data',
  summary: 'Keeps Git repositories, over HTTP and SSH. Works with Git itself and with Gitea clients.',
  listeners: [
    {
      name: 'http',
      title: 'Git over HTTP',
      protocol: 'http',
      port: 3030,
      crossOrigin: 'credentialed',
      authenticates: true,
    },
    {
      name: 'ssh',
      title: 'Git over SSH',
      protocol: 'tcp',
      scheme: 'ssh',
      port: 2222,
      whenShared: 'Machines of these networks clone and push over SSH, each with a key that is known here.',
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
  settingGroups: {
    Access: ['publicUrl', 'requireSignIn'],
    'New repositories': ['defaultPrivate', 'defaultBranch', 'createOnPush'],
    Pushes: ['maxPushMegabytes', 'noticeBranches'],
  },
  loadOnDemand,
  engines: [gitEngine],
  keys: { files: { 'ssh-ed25519': ['ssh_host_ed25519_key'], 'ssh-rsa': ['ssh_host_rsa_key'] } },
  migrations: [...migrations, ...issueMigrations],
  live: [liveTopic(gitPushed, 'user'), liveTopic(gitIssuesChanged, 'user')],
  grantable: [{ service: 'git', title: 'Repositories', example: 'ada/*' }],
  // Folders of merges and exports contain only temporary files.
  excludedFromCopy: [...excludedFolders, 'merges', 'portable'],
});
