// Checks types by project (tsconfig.build.json): only projects whose files or whose dependencies' declarations changed.
// Arguments select projects: `npm run typecheck -- push`, `-- contracts`, `-- main`, `-- test`, `-- renderer`.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, stop } from './commands.mjs';
import { getToolFile } from './tool-file.mjs';

/** Returns the configuration of one project, which names the projects that it depends on. */
function findProject(name) {
  const folders = [`services/${name}`, name];
  const folder = folders.find((each) => existsSync(join(root, each, 'tsconfig.build.json')));
  if (folder === undefined)
    stop(`No TypeScript project is named ${name}: use a service, contracts, kit, main or test.`);
  return join(folder, 'tsconfig.build.json');
}

const names = process.argv.slice(2);
const projects = names.filter((name) => name !== 'renderer').map(findProject);
if (names.length === 0) projects.push('tsconfig.build.json');

const commands = [];
if (projects.length > 0)
  commands.push([process.execPath, [getToolFile('typescript-native', 'tsc'), '-b', ...projects]]);
if (names.length === 0 || names.includes('renderer'))
  commands.push([
    'svelte-check',
    ['--tsconfig', './renderer/tsconfig.json', '--fail-on-warnings', '--output', 'human'],
  ]);

let failed = false;
for (const [command, args] of commands) failed = (await run(command, args)).status !== 0 || failed;
process.exit(failed ? 1 : 0);
