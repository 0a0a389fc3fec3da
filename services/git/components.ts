import type { Context } from '../contracts/service.ts';
import type { Hooks } from './hooks/hooks.ts';
import type { PayloadBuilder } from './hooks/payload-builder.ts';
import type { Issues } from './issues/issues.ts';
import type { IssueWriter } from './issues/writer.ts';
import type { LfsStore } from './lfs/lfs-store.ts';
import type { Portable } from './portable/portable.ts';
import type { Protections } from './protection/protections.ts';
import type { TagProtections } from './protection/tag-protections.ts';
import type { Merges } from './pulls/merge.ts';
import type { MergeRules } from './pulls/merge-rules.ts';
import type { Pulls } from './pulls/pulls.ts';
import type { Releases } from './releases/releases.ts';
import type { Access } from './repositories/access.ts';
import type { Collaborators } from './repositories/collaborators.ts';
import type { Forks } from './repositories/forks.ts';
import type { LanguageSizes } from './repositories/language-sizes.ts';
import type { LastCommits } from './repositories/last-commits.ts';
import type { Lookup } from './repositories/lookup.ts';
import type { Organizations } from './repositories/organizations.ts';
import type { RepositoryStorage } from './repositories/storage.ts';
import type { Settings } from './settings.ts';
import type { SignIn } from './sign-in/sign-in.ts';
import type { Tokens } from './sign-in/tokens.ts';
import type { Keys } from './ssh/keys.ts';
import type { Statuses } from './statuses/statuses.ts';
import type { PushRecovery } from './transfer/push-recovery.ts';
import type { Pushes } from './transfer/pushes.ts';

/** Credentials of clients and their access to repositories. */
export interface AccessControl {
  readonly tokens: Tokens;
  readonly keys: Keys;
  readonly signIn: SignIn;
  readonly access: Access;
  readonly lookup: Lookup;
  readonly collaborators: Collaborators;
  readonly organizations: Organizations;
}

/** Changes of branches and tags, with the rules that protect them. */
export interface PushControl {
  readonly pushes: Pushes;
  readonly recovery: PushRecovery;
  readonly protections: Protections;
  readonly tagProtections: TagProtections;
}

/** Issues and pull requests, with the rules for merging. */
export interface Collaboration {
  readonly issues: Issues;
  readonly writer: IssueWriter;
  readonly pulls: Pulls;
  readonly merges: Merges;
  readonly rules: MergeRules;
  readonly statuses: Statuses;
}

/** Hooks of repositories, accounts and organizations, and what is sent to them. */
export interface Webhooks {
  readonly hooks: Hooks;
  readonly payloads: PayloadBuilder;
}

/** Contents that belong to a repository in addition to its branches and tags. */
export interface RepositoryFeatures {
  readonly lfs: LfsStore;
  readonly lastCommits: LastCommits;
  readonly languageSizes: LanguageSizes;
  readonly releases: Releases;
  readonly forks: Forks;
  readonly portable: Portable;
}

/** Dependencies of the routes of both APIs and of the pages. A module of routes picks those that it uses. */
export interface RouteDependencies {
  readonly context: Context;
  readonly settings: Settings;
  readonly storage: RepositoryStorage;
  readonly accessControl: AccessControl;
  readonly pushControl: PushControl;
  readonly collaboration: Collaboration;
  readonly webhooks: Webhooks;
  readonly features: RepositoryFeatures;
}
