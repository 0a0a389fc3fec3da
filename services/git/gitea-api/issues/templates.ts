import { z } from 'zod';
import type { Repository } from '../../repositories/repositories.ts';
import { resolveRevision } from '../../repositories/revisions.ts';
import { readTree } from '../../repositories/trees.ts';
import { ok, type Route } from '../call.ts';
import { getRepositoryName } from '../repository-requests.ts';
import { YamlReader } from './yaml-reader.ts';
import type { RouteDependencies } from '../../components.ts';

type Dependencies = Pick<RouteDependencies, 'context' | 'storage' | 'accessControl'>;

/** Folders of issue templates, in the order in which Gitea searches them. */
const folders = ['.gitea', '.github'].flatMap((folder) =>
  ['ISSUE_TEMPLATE', 'issue_template'].map((name) => `${folder}/${name}`),
);
/** Maximum size of one template, bytes. Visitors can request templates, so the work is limited. */
const maxTemplateBytes = 64 * 1024;
/** Maximum size of all templates together, bytes. */
const maxTotalBytes = 1024 * 1024;
const maxTemplates = 50;
const isTemplate = /\.(md|ya?ml)$/;
const isConfig = /^config\.ya?ml$/;

const list = z
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
  labels: list,
  assignees: list,
  ref: text,
  body: z.array(z.unknown()).catch([]),
});
const Link = z.object({ name: z.string().min(1), url: z.url(), about: z.string().min(1) });
const Config = z.object({ blank_issues_enabled: z.boolean().default(true), contact_links: z.array(Link).default([]) });

/** Builds the routes of issue templates and their configuration. */
export function issueTemplateRoutes(deps: Dependencies): readonly Route[] {
  const { context } = deps;
  const { manager, objects } = deps.storage;
  const { lookup } = deps.accessControl;
  const yaml = new YamlReader(context.clock);

  /** Reads the template files on the default branch with matching names. */
  const files = async (repository: Repository, names: RegExp) => {
    const folder = manager.getFolder(repository);
    const commit = (await resolveRevision(objects, folder, repository, undefined))?.commit;
    const candidates: { readonly path: string; readonly name: string; readonly id: string }[] = [];
    for (const path of commit === undefined ? [] : folders) {
      for (const { id, name, type } of (await readTree(objects, folder, `${commit}:${path}`)) ?? []) {
        if (type === 'blob' && names.test(name)) candidates.push({ path: `${path}/${name}`, name, id });
      }
    }
    const templates: { readonly path: string; readonly name: string; readonly content: string }[] = [];
    let remainingBytes = maxTotalBytes;
    for (const { path, name, id } of candidates.slice(0, maxTemplates)) {
      const size = (await objects.info(folder, id))?.size;
      if (size === undefined || size > maxTemplateBytes) continue;
      remainingBytes -= size;
      if (remainingBytes < 0) break;
      const contents = await objects.contents(folder, id);
      if (contents !== undefined) templates.push({ path, name, content: contents.bytes.toString() });
    }
    return templates;
  };
  const config = async (repository: Repository) => {
    const [file] = await files(repository, isConfig);
    const [parsed] = await yaml.read(file === undefined ? [] : [file.content]);
    return Config.safeParse(parsed ?? {});
  };
  const get = (path: string, handle: (repository: Repository) => Promise<unknown>): Route => ({
    method: 'GET',
    path: `/repos/:owner/:repo/${path}`,
    scope: 'repository',
    handle: async (call) => ok(await handle(await lookup.require(call.caller, getRepositoryName(call), 'read'))),
  });

  return [
    get('issue_templates', async (repository) => {
      const splitFiles = (await files(repository, isTemplate)).flatMap((file) => {
        const split = splitTemplate(file.name, file.content);
        return split === undefined ? [] : [{ ...split, file_name: file.path }];
      });
      const parsed = await yaml.read(splitFiles.map(({ head }) => head));
      return splitFiles.flatMap(({ content, file_name }, index) => {
        const template = parseTemplate(parsed[index], content);
        return template === undefined ? [] : [{ ...template, file_name }];
      });
    }),
    get('issue_config', async (repository) => {
      const templates = await config(repository);
      return templates.success ? templates.data : Config.parse({});
    }),
    get('issue_config/validate', async (repository) => {
      const templates = await config(repository);
      return { valid: templates.success, message: templates.success ? '' : z.prettifyError(templates.error) };
    }),
  ];
}

/** Splits a template into its YAML and the text below; undefined for other files. */
function splitTemplate(file: string, text: string): { readonly head: string; readonly content: string } | undefined {
  if (/\.ya?ml$/.test(file)) return /^config\./.test(file) ? undefined : { head: text, content: '' };
  const [, head, content = ''] = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text) ?? [];
  return head === undefined ? undefined : { head, content };
}

/** Parses a template; undefined without a name or a purpose. */
function parseTemplate(yaml: unknown, content: string) {
  const parsed = Template.safeParse(yaml);
  if (!parsed.success) return undefined;
  const { name, title, about, description, labels, assignees, ref, body } = parsed.data;
  const purpose = about === '' ? description : about;
  if (name.trim() === '' || purpose.trim() === '') return undefined;
  return { name, title, about: purpose, labels, assignees, ref, content, body };
}
