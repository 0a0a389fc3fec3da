import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { registry } from '../../main/host/services/registry.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** Prints the sources loaded by the list of services, and after a line, those that creating `id` adds. */
const program = (id: string): string => `
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) console.log(url);
      return next(url, context);
    },
  });
  const { registry } = await import('./main/host/services/registry.ts');
  console.log('--');
  await registry.find(({ id }) => id === '${id}').create(undefined, undefined).catch(() => undefined);
`;

it.each(registry.filter(({ capabilities = [] }) => !capabilities.includes('controlHost')).map(({ id }) => id))(
  'loads the code of %s only when it runs',
  async (id) => {
    const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program(id)], { cwd: root });
    const [before = '', after = ''] = stdout.split('--\n');
    expect(before).toContain(`/services/${id}/manifest.ts`);
    for (const other of registry.filter(({ capabilities = [] }) => !capabilities.includes('controlHost'))) {
      expect(before).not.toContain(`/services/${other.id}/index.ts`);
      if (other.id !== id) expect(after).not.toContain(`/services/${other.id}/`);
    }
    expect(after).toContain(`/services/${id}/index.ts`);
  },
);
