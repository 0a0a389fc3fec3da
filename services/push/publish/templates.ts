import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Clock } from '../../contracts/service.ts';
import { refuse } from '../domain/refusals.ts';
import { builtIn, type MessageTemplate } from '../domain/template/built-in.ts';
import type { Surroundings } from '../domain/template/run.ts';

const largestFile = 64 * 1024;

const TemplateFile = z.object({
  title: z.string().optional(),
  message: z.string().optional(),
  priority: z.union([z.string(), z.number().transform(String)]).optional(),
});

/**
 * What the parameter `template` asks for: `yes` for templates in the request itself, else one by name: a file
 * `<name>.yml` in the folder, or one that is built in. Undefined when it asks for none.
 *
 * @throws Problem 40047, 40048
 */
export async function findTemplate(folder: string, asked: string): Promise<MessageTemplate | 'inline' | undefined> {
  if (asked === '' || /^(0|no|false)$/i.test(asked)) return undefined;
  if (/^(1|yes|true)$/i.test(asked)) return 'inline';
  // No dot and no slash: it stays in the folder.
  if (!/^[-_A-Za-z0-9]{1,64}$/.test(asked)) throw refuse('template_unknown');
  return (await readTemplate(join(folder, `${asked}.yml`))) ?? builtIn.get(asked) ?? unknown();
}

/** What templates may know of this server: its time and time zone, chance, and digests. */
export function surroundingsOf(clock: Clock): Surroundings {
  return {
    now: () => clock.now(),
    random: () => Math.random(),
    get zone() {
      return new Intl.DateTimeFormat().resolvedOptions().timeZone;
    },
    digest: (algorithm, bytes) => createHash(algorithm).update(bytes, 'latin1').digest('hex'),
  };
}

function unknown(): never {
  throw refuse('template_unknown');
}

async function readTemplate(path: string): Promise<MessageTemplate | undefined> {
  try {
    if ((await stat(path)).size > largestFile) throw refuse('template_file_invalid');
    const read = TemplateFile.safeParse(parse(await readFile(path, 'utf8'), { maxAliasCount: 10 }));
    if (!read.success) throw refuse('template_file_invalid');
    return read.data;
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return undefined;
    throw refuse('template_file_invalid', undefined, { cause });
  }
}
