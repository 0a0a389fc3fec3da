// Moves texts of problems of services and the host into a catalog. Usage: node extract-problems.mjs ROOT NAMESPACE FILE...
import { readFileSync, writeFileSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
const [root, namespace, ...files] = process.argv.slice(2);
const require = createRequire(join(resolve(root), 'package.json'));
const ts = require('typescript');
const catalogFile = join(root, 'messages/en', `${namespace}.json`);
const catalog = existsSync(catalogFile) ? JSON.parse(readFileSync(catalogFile, 'utf8')) : {};
const byText = new Map(Object.entries(catalog).map(([k, t]) => [t, k]));
const reserved = new Set('break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with yield let static await package private protected public interface implements arguments eval'.split(' '));
function keyFor(message, code) {
  if (byText.has(message)) return byText.get(message);
  let base = code ? code.split('.').slice(-1)[0].replace(/_(\w)/g, (_, c) => c.toUpperCase()) : '';
  if (base === '' || base in catalog || /^(invalid|unknown|failed|refused|denied|conflict|unavailable)$/.test(base) || !/^[a-z]\w*$/.test(base)) {
    const w = message.replace(/<[^>]+>/g, ' ').replace(/\{(\w+)[^}]*\}/g, ' $1 ').replace(/[’']/g, '').split(/[^A-Za-z0-9]+/).filter(Boolean).slice(0, 5);
    base = w.map((x, i) => (i === 0 ? x[0].toLowerCase() + x.slice(1) : x[0].toUpperCase() + x.slice(1))).join('') || 'text';
    if (/^\d/.test(base)) base = `number${base}`;
  }
  if (reserved.has(base)) base += 'Problem';
  let key = base; for (let n = 2; key in catalog; n += 1) key = `${base}${n}`;
  catalog[key] = message; byText.set(message, key); return key;
}
const escapeIcu = (s) => s.replace(/'(?=[{}<])/g, "''").replace(/[{}]/g, (c) => `'${c}'`).replace(/<(?=[A-Za-z/])/g, "'<'");
const hasString = (c) => /'[^']*[A-Za-z][^']*'|"[^"]*[A-Za-z][^"]*"|`/.test(c);
function paramName(code, used) {
  let n = (code.match(/([A-Za-z_$][\w$]*)\s*$/) || [])[1];
  const call = code.match(/^\s*(?:[\w$]+\.)*([\w$]+)\(\s*([\w$.]+)?/);
  if (/\)\s*$/.test(code) && call) n = (call[2] ?? call[1]).split('.').at(-1);
  n = (n ?? 'value').replace(/^[_#]+/g, ''); if (['this', 'current', 'length'].includes(n)) n = n === 'length' ? 'count' : 'value';
  if (/^max[A-Z]/.test(n)) n = n; n = n[0].toLowerCase() + n.slice(1);
  let r = n; for (let i = 2; used.has(r); i += 1) { if (used.get(r) === code) return r; r = `${n}${i}`; } used.set(r, code); return r;
}
let done = 0; const left = [];
for (const file of files) {
  const path = join(root, file); let source = readFileSync(path, 'utf8');
  const sf = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const alias = /\b(const|let|function)\s+m\b|[({,]\s*m\s*[,)}=:]/.test(source) ? 'messages' : 'm';
  const edits = [];
  const line = (n) => sf.getLineAndCharacterOfPosition(n.getStart()).line + 1;
  const parts = (n, used) => {
    if (ts.isParenthesizedExpression(n)) return parts(n.expression, used);
    if (ts.isStringLiteral(n) || ts.isNoSubstitutionTemplateLiteral(n)) return escapeIcu(n.text);
    if (ts.isTemplateExpression(n)) {
      let s = escapeIcu(n.head.text);
      for (const sp of n.templateSpans) { const c = sp.expression.getText(); if (hasString(c) && !/\.join\('[^a-z]*'\)$/.test(c)) return undefined; s += `{${paramName(c, used)}}${escapeIcu(sp.literal.text)}`; }
      return s;
    }
    if (ts.isBinaryExpression(n) && n.operatorToken.kind === ts.SyntaxKind.PlusToken) { const a = parts(n.left, used), b = parts(n.right, used); return a === undefined || b === undefined ? undefined : a + b; }
    return undefined;
  };
  const replace = (n, code) => {
    if (ts.isConditionalExpression(n)) { replace(n.whenTrue, ''); replace(n.whenFalse, ''); return; }
    if (!(ts.isStringLiteral(n) || ts.isTemplateExpression(n) || ts.isNoSubstitutionTemplateLiteral(n) || (ts.isBinaryExpression(n) && n.operatorToken.kind === ts.SyntaxKind.PlusToken))) return;
    const used = new Map(); const msg = parts(n, used);
    if (msg === undefined) { left.push(`${file}:${line(n)} ${n.getText().replace(/\s+/g, ' ').slice(0, 130)}`); return; }
    if (!/\s/.test(msg.trim()) || !/[A-Za-z]{3}/.test(msg)) return;
    if (msg !== msg.trim()) { left.push(`${file}:${line(n)} fragment ${msg.slice(0, 100)}`); return; }
    const list = [...used].map(([k, c]) => (k === c ? k : `${k}: ${c}`));
    edits.push([n.getStart(), n.getEnd(), `${alias}.${keyFor(msg, code)}(${list.length ? `{ ${list.join(', ')} }` : ''})`]); done += 1;
  };
  const insideFunction = (n) => { for (let p = n.parent; p; p = p.parent) if (ts.isFunctionLike(p)) return true; return false; };
  const walk = (n) => {
    if (ts.isNewExpression(n) && n.expression.getText() === 'Problem' && n.arguments?.[2]) {
      const code = ts.isStringLiteral(n.arguments[0]) ? n.arguments[0].text : '';
      if (insideFunction(n)) replace(n.arguments[2], code); else left.push(`${file}:${line(n)} problem of a constant`);
    } else if (ts.isVariableDeclaration(n) && n.initializer && /^(detail|reason|message|explanation|remedy)$/.test(n.name.getText()) && insideFunction(n)) replace(n.initializer, '');
    ts.forEachChild(n, walk);
  };
  walk(sf);
  edits.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const kept = []; for (const e of edits) { const last = kept.at(-1); if (last && e[0] < last[1]) continue; kept.push(e); }
  if (kept.length === 0) continue;
  for (const [s, e, t] of kept.reverse()) source = source.slice(0, s) + t + source.slice(e);
  const st = `import * as ${alias} from '#messages/${namespace}';\n`;
  if (!source.includes(st)) { const i = source.search(/^import /m); source = i < 0 ? st + source : source.slice(0, i) + st + source.slice(i); }
  writeFileSync(path, source);
}
for (const l of left) console.log(l);
writeFileSync(catalogFile, `${JSON.stringify(catalog, null, 2)}\n`);
console.log(`${done} moved, ${left.length} left, ${Object.keys(catalog).length} messages`);
