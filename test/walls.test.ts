import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readSources } from '../scripts/folder-imports.ts';

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

const root = fileURLToPath(new URL('..', import.meta.url));
const fixture = fileURLToPath(new URL('fixtures/walls', import.meta.url));

/** The walls' violations in a small tree where every one is broken on purpose, beside imports that are allowed. */
function violations(): readonly string[] {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      `${root}/node_modules/dependency-cruiser/bin/dependency-cruiser.mjs`,
      ...[
        '--config',
        `${root}/.dependency-cruiser.cjs`,
        '--ts-config',
        `${root}/tsconfig.json`,
        '--output-type',
        'json',
      ],
      ...['main', 'services', 'renderer'],
    ],
    { cwd: fixture, encoding: 'utf8' },
  );
  if (stdout === '') throw new Error(stderr);
  const { summary } = JSON.parse(stdout) as { summary: { violations: Violation[] } };
  return summary.violations.map(
    ({ from, to, rule }) => `${rule.name}: ${from} -> ${to.replace(/^.*node_modules\//, '')}`,
  );
}

describe('dependency rules between folders', () => {
  const list = violations();

  it.each([
    'only-registry-imports-services: main/host/host.ts -> services/push/index.ts',
    'main-does-not-import-renderer: main/host/host.ts -> renderer/src/page.ts',
    'service-imports-itself-and-contracts: services/push/index.ts -> services/mail/index.ts',
    'service-imports-itself-and-contracts: services/mail/index.ts -> main/host/host.ts',
    'kit-imports-contracts-only: services/kit/lines.ts -> services/mail/index.ts',
    'domain-is-pure: services/push/domain/rule.ts -> fs',
    'renderer-imports-contracts-only: renderer/src/page.ts -> services/push/index.ts',
    'renderer-state-is-below-parts: renderer/src/state/session.ts -> renderer/src/parts/tag.ts',
    'renderer-parts-are-below-pages: renderer/src/parts/tag.ts -> renderer/src/pages/service/tabs.ts',
    'renderer-pages-are-below-frame: renderer/src/pages/home/home.ts -> renderer/src/frame/frame.ts',
    'page-does-not-import-another-page: renderer/src/pages/home/home.ts -> renderer/src/pages/inbox/inbox.ts',
  ])('reports %s', (violation) => {
    expect(list).toContain(violation);
  });

  it.each([
    'electron-only-in-shell: main/host/host.ts -> electron',
    'no-dev-dependency-in-production: main/host/host.ts',
    'ui-library-only-in-menus-and-tabs: renderer/src/pages/home/home.ts',
    'domain-is-pure: services/push/domain/rule.ts -> kysely',
    'contracts-import-zod-and-messages-only: services/contracts/push.ts',
    'no-cycles: main/host/host.ts',
    // By types alone.
    'no-cycles: services/mail/reader.ts -> services/mail/writer.ts',
  ])('reports %s …', (start) => {
    expect(list.filter((violation) => violation.startsWith(start))).not.toEqual([]);
  });

  it('accepts allowed imports', () => {
    const wronglyRefused = list.filter(
      (violation) =>
        /-> services\/(contracts|kit)\//.test(violation) ||
        violation.startsWith('only-registry-imports-services: main/host/services/registry.ts') ||
        violation.startsWith('electron-only-in-shell: main/shell/') ||
        violation.includes(': renderer/src/frame/') ||
        violation.includes(': renderer/src/pages/inbox/'),
    );
    expect(wronglyRefused).toEqual([]);
  });
});

describe('page folders', () => {
  it('have at most 15 files', async () => {
    const counts = new Map<string, number>();
    for (const path of (await readSources(root, ['renderer/src/pages'])).keys()) {
      const folder = dirname(path);
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    expect([...counts].filter(([, count]) => count > 15)).toEqual([]);
  });
});
