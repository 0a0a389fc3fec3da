import { levels, type Level } from '../repositories/access.ts';
import { defaultOptions } from '../repositories/default-options.ts';
import type { Repository } from '../repositories/repositories.ts';
import type { OwnerRow } from '../store/tables.ts';
import { zeroTime, formatTime } from './time.ts';
import { toUserJson } from './users.ts';

export interface RepositoryLinks {
  readonly base: string;
  /** `ssh://git@host:port` without a trailing slash. */
  readonly ssh: string;
}

/** Converts a repository to JSON for a caller with the access level. */
export function repositoryJson(repository: Repository, owner: OwnerRow, level: Level, { base, ssh }: RepositoryLinks) {
  const full = `${repository.owner}/${repository.name}`;
  const rank = levels.indexOf(level);
  return {
    id: repository.id,
    owner: toUserJson(owner, base),
    name: repository.name,
    full_name: full,
    description: repository.description,
    empty: repository.empty,
    private: repository.private,
    fork: repository.parentId !== null,
    template: repository.template,
    mirror: false,
    size: repository.size,
    language: '',
    languages_url: `${base}/api/v1/repos/${full}/languages`,
    ...addressesJson(full, { base, ssh }),
    original_url: repository.originalUrl,
    website: repository.website,
    ...countsJson(repository),
    default_branch: repository.defaultBranch,
    archived: repository.archived,
    created_at: formatTime(repository.createdAt),
    updated_at: formatTime(repository.updatedAt),
    archived_at: repository.archived ? formatTime(repository.updatedAt) : '1970-01-01T00:00:00Z',
    permissions: { admin: rank >= 3, push: rank >= 2, pull: rank >= 1 },
    ...optionsJson(repository.options),
    avatar_url: '',
    internal: false,
    mirror_interval: '',
    object_format_name: 'sha1',
    mirror_updated: zeroTime,
    mirror_last_sync_at: zeroTime,
    topics: repository.topics,
    licenses: [],
  };
}

function addressesJson(full: string, { base, ssh }: RepositoryLinks) {
  return {
    html_url: `${base}/${full}`,
    url: `${base}/api/v1/repos/${full}`,
    link: '',
    ssh_url: `${ssh}/${full}.git`,
    clone_url: `${base}/${full}.git`,
  };
}

function countsJson({ branchCount, counts }: Repository) {
  return {
    stars_count: counts.stars,
    forks_count: counts.forks,
    watchers_count: 1,
    branch_count: branchCount,
    open_issues_count: counts.issues,
    open_pr_counter: counts.pulls,
    release_counter: counts.releases,
  };
}

/** Converts the enabled features and the rules of merges to JSON. */
function optionsJson(repositoryOptions: Repository['options']) {
  const options: Record<string, unknown> = { ...defaultOptions, ...repositoryOptions };
  return {
    has_code: true,
    has_issues: options['has_issues'],
    internal_tracker: {
      enable_time_tracker: true,
      allow_only_contributors_to_track_time: true,
      enable_issue_dependencies: true,
    },
    has_wiki: options['has_wiki'],
    has_pull_requests: options['has_pull_requests'],
    has_projects: options['has_projects'],
    projects_mode: 'all',
    has_releases: options['has_releases'],
    has_packages: options['has_packages'],
    has_actions: options['has_actions'],
    ignore_whitespace_conflicts: options['ignore_whitespace_conflicts'],
    allow_merge_commits: options['allow_merge_commits'],
    allow_rebase: options['allow_rebase'],
    allow_rebase_explicit: options['allow_rebase_explicit'],
    allow_squash_merge: options['allow_squash_merge'],
    allow_fast_forward_only_merge: options['allow_fast_forward_only_merge'],
    allow_merge_update: true,
    allow_rebase_update: options['allow_rebase_update'],
    allow_manual_merge: options['allow_manual_merge'],
    autodetect_manual_merge: options['autodetect_manual_merge'],
    default_delete_branch_after_merge: options['default_delete_branch_after_merge'],
    default_merge_style: options['default_merge_style'],
    default_update_style: 'merge',
    default_allow_maintainer_edit: options['default_allow_maintainer_edit'],
  };
}
