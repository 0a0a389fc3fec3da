import { peerVersion } from './misc.ts';
import type { Route } from './call.ts';
import { apiPrefix } from './router.ts';

/** Describes the routes as an OpenAPI 2.0 document, as Gitea does. */
export function buildSwagger(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/[:*]([a-z_]+)/g, '{$1}');
    const parameters = [...route.path.matchAll(/[:*]([a-z_]+)/g)].map(([, name = '']) => ({
      name,
      in: 'path',
      required: true,
      type: 'string',
    }));
    const hasBody = route.method === 'POST' || route.method === 'PUT' || route.method === 'PATCH';
    const pathName = path.replaceAll(/[^a-z]+([a-z])/gi, (_all, letter: string) => letter.toUpperCase());
    (paths[path] ??= {})[route.method.toLowerCase()] = {
      operationId: `${route.method.toLowerCase()}${pathName.replaceAll(/\W/g, '')}`,
      tags: [route.scope],
      ...(route.signedIn === true ? { security: [{ BasicAuth: [] }, { AuthorizationHeaderToken: [] }] } : {}),
      parameters: [...parameters, ...(hasBody ? [{ name: 'body', in: 'body', schema: { type: 'object' } }] : [])],
      responses: { default: { description: 'The same response as in Gitea.' } },
    };
  }
  return {
    swagger: '2.0',
    info: {
      title: 'Homeport Git',
      description: 'The part of the Gitea API that Homeport implements.',
      version: peerVersion,
    },
    basePath: apiPrefix,
    consumes: ['application/json'],
    produces: ['application/json'],
    paths,
    securityDefinitions: {
      BasicAuth: { type: 'basic' },
      AuthorizationHeaderToken: { type: 'apiKey', name: 'Authorization', in: 'header', description: 'token TOKEN' },
    },
  };
}
