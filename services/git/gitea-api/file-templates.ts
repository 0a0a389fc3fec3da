import { gitignoreTexts } from '../domain/gitignore-texts.ts';
import { labelSets } from '../domain/label-sets.ts';
import { licenseTexts } from '../domain/license-texts.ts';
import { buildNotFoundProblem } from '../repositories/lookup.ts';
import { ok, type Route } from './call.ts';

/** Routes of the templates for new repositories: .gitignore files, licenses and label sets. */
export const fileTemplateRoutes: readonly Route[] = [
  { method: 'GET', path: '/gitignore/templates', scope: 'misc', handle: async () => ok(Object.keys(gitignoreTexts)) },
  {
    method: 'GET',
    path: '/gitignore/templates/:name',
    scope: 'misc',
    handle: async ({ params: { name = '' } }) => ok({ name, source: getTemplate(gitignoreTexts, name) }),
  },
  {
    method: 'GET',
    path: '/licenses',
    scope: 'misc',
    handle: async ({ base }) => ok(Object.keys(licenseTexts).map((key) => licenseJson(key, base))),
  },
  {
    method: 'GET',
    path: '/licenses/:name',
    scope: 'misc',
    handle: async ({ base, params: { name = '' } }) => {
      const { body, summary: description } = getTemplate(licenseTexts, name);
      return ok({ ...licenseJson(name, base), implementation: description, body });
    },
  },
  { method: 'GET', path: '/label/templates', scope: 'misc', handle: async () => ok(Object.keys(labelSets)) },
  {
    method: 'GET',
    path: '/label/templates/:name',
    scope: 'misc',
    handle: async ({ params: { name = '' } }) => ok(getTemplate(labelSets, name)),
  },
];

function licenseJson(key: string, base: string) {
  return { key, name: getTemplate(licenseTexts, key).name, url: `${base}/api/v1/licenses/${encodeURIComponent(key)}` };
}

/** @throws Problem (404) */
function getTemplate<Item>(all: Readonly<Record<string, Item>>, name: string): Item {
  const item = Object.hasOwn(all, name) ? all[name] : undefined;
  if (item === undefined) throw buildNotFoundProblem();
  return item;
}
