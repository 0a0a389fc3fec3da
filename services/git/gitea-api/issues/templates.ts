import { z } from 'zod';
import type { Repository } from '../../repositories/repositories.ts';
import { resolve } from '../../repositories/revisions.ts';
import { readTree } from '../../repositories/trees.ts';
import { ok, type Route } from '../call.ts';
import { named } from '../api-dependencies.ts';
import type { IssueParts } from './issue-access.ts';
import { YamlReader } from './yaml-reader.ts';

/** Where they lie, as the peer looks for them. */
const folders = ['.gitea', '.github'].flatMap((folder) =>
  ['ISSUE_TEMPLATE', 'issue_template'].map((name) => `${folder}/${name}`),
);
/** Larger ones are not looked at, bytes, and of those together no more; anybody may ask for them. */
const largest = 64 * 1024;
const mostBytes = 1024 * 1024;
const mostFiles = 50;
const isTemplate = /\.(md|ya?ml)$/;
const isConfig = /^config\.ya?ml$/;

const words = z
  .preprocess(
    (value) => (typeof value === 'string' ? value.split(',').map((word) => word.trim()) : (value ?? [])),
    z.array(z.string()),
  )
  .catch([]);
const text = z.string().catch('');
const Template = z.object({
  name: text,
  title: text,
  about: text,
  description: text,
  labels: words,
  assignees: words,
  ref: text,
  body: z.array(z.unknown()).catch([]),
});
const Link = z.object({ name: z.string().min(1), url: z.url(), about: z.string().min(1) });
const Config = z.object({ blank_issues_enabled: z.boolean().default(true), contact_links: z.array(Link).default([]) });

/** What a repository's own files say of how its issues begin. */
export function issueTemplateRoutes(parts: IssueParts): readonly Route[] {
  const { context, keeper, lookup, objects } = parts;
  const yaml = new YamlReader(context.clock);

  /** The files of that folder on the default branch with such names. */
  const files = async (repository: Repository, names: RegExp) => {
    const folder = keeper.folder(repository);
    const commit = (await resolve(objects, folder, repository, undefined))?.commit;
    const named: { readonly path: string; readonly name: string; readonly id: string }[] = [];
    for (const path of commit === undefined ? [] : folders) {
      for (const { id, name, type } of (await readTree(objects, folder, `${commit}:${path}`)) ?? []) {
        if (type === 'blob' && names.test(name)) named.push({ path: `${path}/${name}`, name, id });
      }
    }
    const found: { readonly path: string; readonly name: string; readonly content: string }[] = [];
    let left = mostBytes;
    for (const { path, name, id } of named.slice(0, mostFiles)) {
      const size = (await objects.info(folder, id))?.size;
      if (size === undefined || size > largest) continue;
      left -= size;
      if (left < 0) break;
      const contents = await objects.contents(folder, id);
      if (contents !== undefined) found.push({ path, name, content: contents.bytes.toString() });
    }
    return found;
  };
  const config = async (repository: Repository) => {
    const [file] = await files(repository, isConfig);
    const [said] = await yaml.read(file === undefined ? [] : [file.content]);
    return Config.safeParse(said ?? {});
  };
  const get = (path: string, handle: (repository: Repository) => Promise<unknown>): Route => ({
    ...{ method: 'GET', path: `/repos/:owner/:repo/${path}`, scope: 'repository' },
    handle: async (call) => ok(await handle(await lookup.need(call.visitor, named(call), 'read'))),
  });

  return [
    get('issue_templates', async (repository) => {
      const known = (await files(repository, isTemplate)).flatMap((file) => {
        const parted = partsOf(file.name, file.content);
        return parted === undefined ? [] : [{ ...parted, file_name: file.path }];
      });
      const said = await yaml.read(known.map(({ head }) => head));
      return known.flatMap(({ content, file_name }, at) => {
        const made = templateOf(said[at], content);
        return made === undefined ? [] : [{ ...made, file_name }];
      });
    }),
    get('issue_config', async (repository) => {
      const found = await config(repository);
      return found.success ? found.data : Config.parse({});
    }),
    get('issue_config/validate', async (repository) => {
      const found = await config(repository);
      return { valid: found.success, message: found.success ? '' : z.prettifyError(found.error) };
    }),
  ];
}

/** The YAML of a template and the text below it; undefined for a file that is none. */
function partsOf(file: string, text: string): { readonly head: string; readonly content: string } | undefined {
  if (/\.ya?ml$/.test(file)) return /^config\./.test(file) ? undefined : { head: text, content: '' };
  const [, head, content = ''] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text) ?? [];
  return head === undefined ? undefined : { head, content };
}

/** Undefined for one that is none: it needs a name and says what it is for. */
function templateOf(yaml: unknown, content: string) {
  const said = Template.safeParse(yaml);
  if (!said.success) return undefined;
  const { name, title, about, description, labels, assignees, ref, body } = said.data;
  const purpose = about === '' ? description : about;
  if (name.trim() === '' || purpose.trim() === '') return undefined;
  return { name, title, about: purpose, labels, assignees, ref, content, body };
}
