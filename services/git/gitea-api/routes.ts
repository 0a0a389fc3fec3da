import { activityRoutes } from './activity.ts';
import { administrationRoutes } from './administration.ts';
import { fileTemplateRoutes } from './file-templates.ts';
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
import { accountListRoutes } from './account-lists.ts';
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
import { contentRoutes } from './contents.ts';
import { hookRoutes } from './hooks.ts';
import { noteRoutes } from './notes.ts';
import { transferRoutes } from './transfers.ts';
import { upstreamRoutes } from './upstream.ts';
import { portableRoutes } from './portable.ts';
import type { Route } from './call.ts';
import type { RouteDependencies } from '../components.ts';

type Dependencies = RouteDependencies;

/** Builds all routes of Gitea's API. */
export function giteaApiRoutes(deps: Dependencies): readonly Route[] {
  return [
    ...miscRoutes,
    ...fileTemplateRoutes,
    ...portableRoutes(deps),
    ...userRoutes(deps),
    ...profileRoutes(deps),
    ...followRoutes(deps),
    ...administrationRoutes(deps),
    // Before routes that take any word as the number of an issue.
    ...pinRoutes(deps),
    ...issueTrackerRoutes(deps),
    ...pullRequestRoutes(deps),
    ...repositoryRoutes(deps),
    ...referenceRoutes(deps),
    ...commitRoutes(deps),
    ...contentRoutes(deps),
    ...fileRoutes(deps),
    ...hookRoutes(deps),
    ...protectionRoutes(deps),
    ...tagProtectionRoutes(deps),
    ...collaboratorRoutes(deps),
    ...organizationRoutes(deps),
    ...teamRoutes(deps),
    ...forkRoutes(deps),
    ...transferRoutes(deps),
    ...upstreamRoutes(deps),
    ...noteRoutes(deps),
    ...topicRoutes(deps),
    ...releaseRoutes(deps),
    ...statusRoutes(deps),
    ...languageRoutes(deps),
    ...branchNameRoutes(deps),
    ...watchRoutes(deps),
    ...accountListRoutes(deps),
    ...activityRoutes(deps),
    ...templateRoutes(deps),
  ];
}
