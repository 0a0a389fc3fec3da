import type { Generated, Kysely, Selectable } from 'kysely';
import type { IssueTables } from './issue-tables.ts';
import type { HookTables } from './hooks.ts';
import type { LfsTables } from './lfs.ts';
import type { PeopleTables } from './follows.ts';
import type { RestTables } from './repository-relations.ts';
import type { SharedRepositoriesTables } from './shared-repositories.ts';
import type { TransferTables } from './transfers.ts';
import type { TagProtectionTables } from './tag-protections.ts';
import type { StatusTables } from './statuses.ts';

interface Owners {
  id: Generated<number>;
  name: string;
  lower_name: string;
  kind: 'account' | 'organization';
  full_name: string;
  description: string;
  created_at: number;
  /** JSON of {@link OwnerProfile}. */
  profile: Generated<string>;
  /** Visibility of an organization and of its public repositories. Accounts are `public`. */
  visibility: Generated<'public' | 'limited' | 'private'>;
  /** Email address that the account uses in commits; empty for none. */
  email: Generated<string>;
}

/** Further fields of an account's or an organization's profile. */
export interface OwnerProfile {
  readonly website?: string | undefined;
  readonly location?: string | undefined;
  readonly language?: string | undefined;
  readonly theme?: string | undefined;
  readonly diff_view_style?: string | undefined;
  readonly hide_email?: boolean | undefined;
  readonly hide_activity?: boolean | undefined;
}

interface Repositories {
  id: Generated<number>;
  owner_id: number;
  name: string;
  lower_name: string;
  folder: string;
  description: string;
  website: string;
  original_url: string;
  topics: string;
  options: string;
  private: number;
  archived: number;
  template: number;
  empty: number;
  filling: number;
  /** Run of the host that creates the repository; null if that host has an earlier version. */
  filling_host: Generated<string | null>;
  default_branch: string;
  branch_count: number;
  size: number;
  created_at: number;
  updated_at: number;
  pushed_at: number | null;
}

/** Additional permission of an account for a repository. */
export type Collaboration = 'read' | 'write' | 'admin';

interface PublicKeys {
  id: Generated<number>;
  account: string | null;
  repository_id: number | null;
  title: string;
  text: string;
  fingerprint: string;
  read_only: number;
  created_at: number;
  last_used_at: number | null;
}

interface Tokens {
  id: Generated<number>;
  account: string;
  name: string;
  hash: string;
  last_eight: string;
  scopes: string;
  created_at: number;
  last_used_at: number | null;
}

interface Pushes {
  id: string;
  repository_id: number;
  account: string;
  commands: string;
  begun_at: number;
  /** Run of the host that receives the push; null if that host has an earlier version. */
  host_id: Generated<string | null>;
}

/** Connection to the tables, or a transaction. */
export type Db = Kysely<Tables>;

/** Tables of the git service. */
export interface Tables
  extends
    HookTables,
    IssueTables,
    LfsTables,
    PeopleTables,
    RestTables,
    SharedRepositoriesTables,
    StatusTables,
    TagProtectionTables,
    TransferTables {
  owners: Owners;
  repositories: Repositories;
  former_names: { owner_id: number; lower_name: string; repository_id: number };
  collaborators: { repository_id: number; account: string; permission: Collaboration };
  tokens: Tokens;
  public_keys: PublicKeys;
  pushes: Pushes;
}

export type OwnerRow = Selectable<Owners>;
export type RepositoryRow = Selectable<Repositories>;
export type TokenRow = Selectable<Tokens>;
export type PublicKeyRow = Selectable<PublicKeys>;
