import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Clock } from '../../contracts/service.ts';
import { refuse } from '../domain/refusals.ts';
import { builtInTemplates, type MessageTemplate } from '../domain/template/built-in.ts';
import type { TemplateEnvironment } from '../domain/template/run.ts';

const maxFileBytes = 64 * 1024;

const TemplateFile = z.object({
  title: z.string().optional(),
  message: z.string().optional(),
  priority: z.union([z.string(), z.number().transform(String)]).optional(),
});

/**
 * Resolves the `template` parameter: `yes` for templates in the request, otherwise the name of a file `<name>.yml` in
 * the folder or of a built-in template. Returns undefined when templates are disabled.
 *
 * @throws Problem 40047, 40048
 */
export async function findTemplate(folder: string, name: string): Promise<MessageTemplate | 'inline' | undefined> {
  if (name === '' || /^(0|no|false)$/i.test(name)) return undefined;
  if (/^(1|yes|true)$/i.test(name)) return 'inline';
  // Excludes dots and slashes, so that the path stays in the folder.
  if (!/^[-_A-Za-z0-9]{1,64}$/.test(name)) throw refuse('template_unknown');
  return (await readTemplate(join(folder, `${name}.yml`))) ?? builtInTemplates.get(name) ?? refuseUnknown();
}

/** Returns the environment of templates: clock, time zone, randomness and digests. */
export function createTemplateEnvironment(clock: Clock): TemplateEnvironment {
  return {
    now: () => clock.now(),
    random: () => Math.random(),
    get zone() {
      return new Intl.DateTimeFormat().resolvedOptions().timeZone;
    },
    digest: (algorithm, bytes) => createHash(algorithm).update(bytes, 'latin1').digest('hex'),
  };
}

function refuseUnknown(): never {
  throw refuse('template_unknown');
}

async function readTemplate(path: string): Promise<MessageTemplate | undefined> {
  try {
    if ((await stat(path)).size > maxFileBytes) throw refuse('template_file_invalid');
    const parsed = TemplateFile.safeParse(parse(await readFile(path, 'utf8'), { maxAliasCount: 10 }));
    if (!parsed.success) throw refuse('template_file_invalid');
    return parsed.data;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw refuse('template_file_invalid', undefined, { cause });
  }
}
