// Replaces copied sentences of tests by message functions. Usage: node tests-to-keys.mjs ROOT NAMESPACE[,NAMESPACE...] FILE...
// The namespaces are in order of preference. Only whole texts are replaced.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
const [root, list, ...files] = process.argv.slice(2);
const require = createRequire(join(resolve(root), 'package.json'));
const ts = require('typescript');
const { parse, TYPE } = require('@formatjs/icu-messageformat-parser');
const statics = new Map(); const patterns = [];
const escape = (s) => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
for (const ns of list.split(',')) {
  const catalog = JSON.parse(readFileSync(join(root, 'messages/en', `${ns}.json`), 'utf8'));
  for (const [key, text] of Object.entries(catalog)) {
    const els = parse(text, { captureLocation: false });
    if (els.every((e) => e.type === TYPE.literal)) { const t = els.map((e) => e.value).join(''); if (!statics.has(t)) statics.set(t, [ns, key]); }
    else if (els.every((e) => [TYPE.literal, TYPE.argument, TYPE.plural].includes(e.type)) && els.some((e) => e.type === TYPE.literal && /[A-Za-z]{3}/.test(e.value) || e.type === TYPE.plural)) {
      const names = []; let ok = true; let re = '';
      for (const e of els) {
        if (e.type === TYPE.literal) re += escape(e.value);
        else if (e.type === TYPE.argument) { names.push([e.value, 'text']); re += '(.+?)'; }
        else { const alts = Object.entries(e.options).map(([, o]) => { if (!o.value.every((v) => [TYPE.literal, TYPE.pound].includes(v.type))) ok = false; return o.value.map((v) => (v.type === TYPE.pound ? '([\\d,]+)' : escape(v.value ?? ''))).join(''); }); if (alts.some((a) => !a.includes('([\\d,]+)'))) ok = false; names.push([e.value, 'plural', alts.length]); re += `(?:${alts.join('|')})`; }
      }
      if (ok) patterns.push([new RegExp(`^${re}$`), ns, key, names]);
    }
  }
}
let count = 0, left = 0;
for (const file of files) {
  const path = join(root, file); let source = readFileSync(path, 'utf8');
  const sf = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const edits = []; const used = new Set();
  const alias = (ns) => ns.replace(/-(\w)/g, (_, c) => c.toUpperCase()) + 'Messages';
  const walk = (n) => {
    if (ts.isStringLiteral(n) && n.text.length > 2 && /[A-Za-z]{3}/.test(n.text) && inQuery(n)) {
      let hit = statics.get(n.text); let args = '';
      if (!hit) for (const [re, ns, key, names] of patterns) {
        const m = re.exec(n.text); if (!m) continue;
        const groups = m.slice(1); let i = 0; const vals = [];
        for (const [name, kind, alts] of names) { if (kind === 'text') vals.push([name, ts.factory ? JSON.stringify(groups[i++]).replace(/^"(.*)"$/, (_, x) => `'${x.replace(/'/g, "\\'").replace(/\\"/g, '"')}'`) : '']); else { const g = groups.slice(i, i + alts).find((x) => x !== undefined); i += alts; vals.push([name, g.replaceAll(',', '')]); } }
        if (vals.some(([, v]) => v === undefined)) continue;
        hit = [ns, key]; args = `{ ${vals.map(([a, v]) => `${a}: ${v}`).join(', ')} }`; break;
      }
      if (hit) { used.add(hit[0]); edits.push([n.getStart(), n.getEnd(), `${alias(hit[0])}.${hit[1]}(${args})`]); count += 1; } else if (/\s/.test(n.text)) left += 1;
    }
    ts.forEachChild(n, walk);
  };
  const inQuery = (n) => {
    const p = n.parent;
    if (ts.isCallExpression(p) && p.arguments[0] === n) return /\.(getBy(Text|Label|Title|Placeholder|AltText)|selectOption)$/.test(p.expression.getText());
    if (ts.isPropertyAssignment(p) && /^(name|hasText|description|label)$/.test(p.name.getText())) { const c = p.parent.parent; return ts.isCallExpression(c) && /\.(getBy\w+|filter|selectOption)$/.test(c.expression.getText()); }
    return false;
  };
  walk(sf);
  if (edits.length === 0) continue;
  for (const [s, e, t] of edits.sort((a, b) => b[0] - a[0])) source = source.slice(0, s) + t + source.slice(e);
  const imports = [...used].sort().map((ns) => `import * as ${alias(ns)} from '#messages/${ns}';\n`).filter((l) => !source.includes(l)).join('');
  const first = source.search(/^import /m);
  source = source.slice(0, first) + imports + source.slice(first);
  writeFileSync(path, source);
}
console.log(`${count} replaced, ${left} sentences of queries left`);
