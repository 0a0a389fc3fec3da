import { activityRoutes } from './activity.ts';
import { administrationRoutes } from './administration.ts';
import { beginningRoutes } from './file-templates.ts';
import { branchNameRoutes } from './branch-names.ts';
import { collaboratorRoutes } from './collaborators.ts';
import { commitRoutes } from './commits.ts';
import { fileRoutes } from './files.ts';
import { followRoutes } from './follows.ts';
import { forkRoutes } from './forks.ts';
import { issueTrackerRoutes } from './issues/routes.ts';
import { languageRoutes } from './languages.ts';
import { miscRoutes } from './misc.ts';
import { organizationRoutes } from './organizations.ts';
import { peopleRoutes } from './account-lists.ts';
import { profileRoutes } from './profile.ts';
import { protectionRoutes } from './protections.ts';
import { pinRoutes } from './pulls/pins.ts';
import { pullRequestRoutes } from './pulls/routes.ts';
import { referenceRoutes } from './references.ts';
import { releaseRoutes } from './releases.ts';
import { repositoryRoutes } from './repositories.ts';
import { statusRoutes } from './statuses.ts';
import { tagProtectionRoutes } from './tag-protections.ts';
import { teamRoutes } from './teams.ts';
import { templateRoutes } from './template-repositories.ts';
import { topicRoutes } from './topics.ts';
import { userRoutes } from './users.ts';
import { watchRoutes } from './watches.ts';
import { contentRoutes, type ContentParts } from './contents.ts';
import { hookRoutes, type HookParts } from './hooks.ts';
import type { Portable } from '../portable/portable.ts';
import { noteRoutes } from './notes.ts';
import { transferRoutes } from './transfers.ts';
import { upstreamRoutes } from './upstream.ts';
import { portableRoutes } from './portable.ts';
import type { Route } from './call.ts';
import type { Db } from './api-dependencies.ts';
import type { PullRestParts } from './pulls/pull-views.ts';

/** All that the API answers. */
export function restRoutes(
  parts: ContentParts & HookParts & PullRestParts & { readonly db: Db; readonly portable: Portable },
): readonly Route[] {
  return [
    ...miscRoutes,
    ...beginningRoutes,
    ...portableRoutes(parts),
    ...userRoutes(parts),
    ...profileRoutes(parts),
    ...followRoutes(parts),
    ...administrationRoutes(parts),
    // Before what takes any word for an issue's number.
    ...pinRoutes(parts),
    ...issueTrackerRoutes(parts),
    ...pullRequestRoutes(parts),
    ...repositoryRoutes(parts),
    ...referenceRoutes(parts),
    ...commitRoutes(parts),
    ...contentRoutes(parts),
    ...fileRoutes(parts),
    ...hookRoutes(parts),
    ...protectionRoutes(parts),
    ...tagProtectionRoutes(parts),
    ...collaboratorRoutes(parts),
    ...organizationRoutes(parts),
    ...teamRoutes(parts),
    ...forkRoutes(parts),
    ...transferRoutes(parts),
    ...upstreamRoutes(parts),
    ...noteRoutes(parts),
    ...topicRoutes(parts),
    ...releaseRoutes(parts),
    ...statusRoutes(parts),
    ...languageRoutes(parts),
    ...branchNameRoutes(parts),
    ...watchRoutes(parts),
    ...peopleRoutes(parts),
    ...activityRoutes(parts),
    ...templateRoutes(parts),
  ];
}
