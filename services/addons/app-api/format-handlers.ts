import * as m from '#messages/addons-problems';
import { addonsApi, type FormatPreview } from '../../contracts/addons/api.ts';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { parseJsonOrThrow } from '../../contracts/parse-json.ts';
import { Problem } from '../../contracts/problem.ts';
import { listFormatStyles } from '../domain/format/format-styles.ts';
import { compileFormat, type FormatTemplates } from '../domain/format/predefined.ts';
import { findSharedFormat } from '../domain/format/shared-format.ts';
import { findTemplateProblems } from '../domain/format/template.ts';
import { getSampleStream, getSampleStreams } from '../domain/sample-stream.ts';
import type { RouteDependencies } from '../stremio-api/route-dependencies.ts';
import { readSharedConfig } from './address-import.ts';
import { isAdministrator } from './permissions.ts';

const maxProblems = 20;

/** Builds the handlers for the formats of stream names and descriptions. */
export function createFormatHandlers(dependencies: RouteDependencies): readonly ApiHandler[] {
  const { settings } = dependencies;
  return [
    implement(addonsApi.format, ({ body }) => previewFormat(body, settings.addonName)),
    implement(addonsApi.formats, () => ({ items: [...listFormatStyles()] })),
    implement(addonsApi.readFormat, async ({ body: { text, address }, identity }) => {
      const trust = isAdministrator(identity) && settings.allowPrivateAddresses ? 'owner' : 'other';
      const content =
        address === ''
          ? parseJsonOrThrow(text, () => createFormatProblem('text', m.formatNotJson()))
          : await readSharedConfig(dependencies, { address, password: '', trust });
      const format = findSharedFormat(content);
      if (format === undefined) throw createFormatProblem(address === '' ? 'text' : 'address', m.formatMissing());
      return format;
    }),
  ];
}

function previewFormat(
  { id, name, description }: FormatTemplates & { readonly id: string },
  addonName: string,
): FormatPreview {
  const formatter = compileFormat({ id, definitions: { custom: { name, description } } });
  const values = { stream: getSampleStream(), addonName };
  const templates: readonly (readonly ['name' | 'description', string])[] =
    id === 'custom'
      ? [
          ['name', name],
          ['description', description],
        ]
      : [];
  return {
    name: formatter.name(values),
    description: formatter.description(values),
    samples: getSampleStreams().map(({ kind, stream }) => ({
      kind,
      name: formatter.name({ stream, addonName }),
      description: formatter.description({ stream, addonName }),
    })),
    problems: templates
      .flatMap(([part, template]) => findTemplateProblems(template).map((problem) => ({ ...problem, part })))
      .slice(0, maxProblems),
  };
}

function createFormatProblem(field: string, message: string): Problem {
  return new Problem('addons.no_format', 422, message, { fields: { [field]: message } });
}
