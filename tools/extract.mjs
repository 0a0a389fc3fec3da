// Moves texts of Svelte and TypeScript files into a message catalog. Usage: node extract.mjs ROOT NAMESPACE FILE...
// Rewrites the files, adds to messages/en/NAMESPACE.json and prints what is left for a person.
import { readFileSync, writeFileSync, existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
const [root, namespace, ...files] = process.argv.slice(2);
const require = createRequire(join(resolve(root), 'package.json'));
const ts = require('typescript');
const { parse } = require('svelte/compiler');
const catalogFile = join(root, 'messages/en', `${namespace}.json`);
const catalog = existsSync(catalogFile) ? JSON.parse(readFileSync(catalogFile, 'utf8')) : {};
const byText = new Map(Object.entries(catalog).map(([k, t]) => [t, k]));
const reserved = new Set('break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return super switch this throw true try typeof var void while with yield let static await package private protected public interface implements arguments eval'.split(' '));
function keyFor(message) {
  const existing = byText.get(message);
  if (existing) return existing;
  const words = message.replace(/<[^>]+>/g, ' ').replace(/\{(\w+)[^}]*\}/g, ' $1 ').replace(/[’']/g, '').split(/[^A-Za-z0-9]+/).filter(Boolean).slice(0, 5);
  let base = words.map((w, i) => (i === 0 ? w[0].toLowerCase() + w.slice(1) : w[0].toUpperCase() + w.slice(1))).join('') || 'text';
  if (/^\d/.test(base)) base = `number${base}`;
  if (/^[A-Z0-9]+$/.test(words[0] ?? '')) base = words[0].toLowerCase() + base.slice(words[0].length);
  if (reserved.has(base)) base += 'Label';
  let key = base;
  for (let n = 2; key in catalog; n += 1) key = `${base}${n}`;
  catalog[key] = message;
  byText.set(message, key);
  return key;
}
const escapeIcu = (s) => s.replace(/'(?=[{}<])/g, "''").replace(/[{}]/g, (c) => `'${c}'`).replace(/<(?=[A-Za-z/])/g, "'<'");
const hasLetters = (s) => /[A-Za-z]{2,}|^[A-Z]$/.test(s);
const uiAttributes = new Set(['label','title','placeholder','note','aria-label','description','caption','alt','message','hint','heading','text','subject','empty','summary','aria-description','aria-roledescription','aria-valuetext','question','explanation','warning','advice','unit','prefix','suffix','confirm','cancel','action','name_','legend','body','subtitle','tooltip','what','none','more','before','after','object','remedy','error','reason','help']);
function looksLikeText(s) { return hasLetters(s) && (/\s/.test(s.trim()) || /^[A-Z][a-z]+/.test(s.trim()) || /^[A-Z]{2,}$/.test(s.trim())) && !/^(https?:|\/|#|\.)/.test(s) && !/^[a-z]+[A-Z]\w*$/.test(s) && !/^[\w-]+:[\w-]+/.test(s); }
function paramName(code, used) {
  let n = (code.match(/([A-Za-z_$][\w$]*)\s*(?:\([^()]*\))?\s*$/) || [])[1] ?? (code.match(/^\s*(?:\w+\.)*([A-Za-z_$][\w$]*)\s*\(/) || [])[1] ?? 'value';
  const call = code.match(/^\s*(?:[\w$]+\.)*(?:format|get|to)?([A-Z]?[\w$]*)\(\s*([\w$.]+)?/);
  if (/\)\s*$/.test(code) && call) n = (call[2] ?? call[1] ?? 'value').split('.').at(-1);
  n = n.replace(/^_|\$/g, ''); if (!/^[a-z]/i.test(n) || ['this','current','length','value2'].includes(n)) n = n === 'length' ? 'count' : 'value';
  n = n[0].toLowerCase() + n.slice(1);
  let r = n; for (let i = 2; used.has(r) ; i += 1) { if (used.get(r) === code) return r; r = `${n}${i}`; }
  used.set(r, code); return r;
}
const hasString = (code) => /'[^']*[A-Za-z][^']*'|"[^"]*[A-Za-z][^"]*"|`/.test(code);
let leftCount = 0, doneCount = 0;
for (const file of files) {
  const path = join(root, file);
  let source = readFileSync(path, 'utf8');
  const edits = []; const left = [];
  const isSvelte = file.endsWith('.svelte');
  const alias = /\b(const|let|function)\s+m\b|[({,]\s*m\s*[,)}=:]/.test(source) ? 'messages' : 'm';
  const call = (message, values) => { doneCount += 1; const k = keyFor(message); const list = [...values].map(([n, c]) => (n === c ? n : `${n}: ${c}`)); return `${alias}.${k}(${list.length ? `{ ${list.join(', ')} }` : ''})`; };
  const line = (pos) => source.slice(0, pos).split('\n').length;
  const leave = (pos, why, snippet) => { left.push(`${file}:${line(pos)} ${why}: ${snippet.replace(/\s+/g, ' ').slice(0, 140)}`); leftCount += 1; };
  const scripts = [];
  if (isSvelte) {
    const ast = parse(source, { modern: true });
    for (const s of [ast.module, ast.instance]) if (s) scripts.push([s.content.start, s.content.end, s === ast.module]);
    const visitExpression = (e) => scripts.push([e.start, e.end, false, true]);
    const visitFragment = (f) => {
      const nodes = f.nodes;
      // Runs of text and expressions.
      const textual = nodes.filter((n) => n.type === 'Text' || n.type === 'ExpressionTag');
      const texts = nodes.filter((n) => n.type === 'Text' && hasLetters(n.data));
      const inline = nodes.filter((n) => (n.type === 'RegularElement' && ['a','code','b','strong','em','i','kbd','span','abbr','time','br','small','mark','samp','var'].includes(n.name)) || n.type === 'Component' && ['Time','Ago','Code'].includes(n.name));
      const blocks = nodes.filter((n) => !textual.includes(n) && !inline.includes(n) && n.type !== 'Comment');
      if (texts.length > 0) {
        if (inline.length === 0) {
          // Each maximal run of text and expression nodes is one message.
          let run = [];
          const flush = () => {
            if (run.some((n) => n.type === 'Text' && hasLetters(n.data))) {
              const used = new Map(); let bad = false; let msg = '';
              for (const n of run) {
                if (n.type === 'Text') msg += escapeIcu(n.data.replace(/[ \t\r\n]+/g, ' '));
                else { const code = source.slice(n.expression.start, n.expression.end); if (hasString(code)) bad = true; msg += `{${paramName(code, used)}}`; }
              }
              const start = run[0].start, end = run.at(-1).end;
              const raw = source.slice(start, end); const lead = raw.match(/^\s*/)[0], tail = raw.match(/\s*$/)[0];
              const touchesBlock = blocks.length > 0 && !blocks.every((b) => ['RegularElement','Component','SnippetBlock','RenderTag'].includes(b.type));
              if (bad) leave(start, 'expression with text', raw);
              else if (touchesBlock) leave(start, 'text beside a block', raw);
              else { edits.push([start, end, `${lead}{${call(msg.trim(), used)}}${tail}`]); for (const n of run) done.add(n); }
            }
            run = [];
          };
          for (const n of nodes) { if (textual.includes(n)) run.push(n); else flush(); }
          flush();
        } else leave(texts[0].start, 'text with markup', source.slice(nodes[0].start, nodes.at(-1).end));
      }
      for (const n of nodes) visit(n);
    };
    const done = new Set();
    const visit = (n) => {
      if (n === null || typeof n !== 'object') return;
      if (n.type === 'Text' || n.type === 'Comment') return;
      if (n.type === 'ExpressionTag') { if (!done.has(n)) visitExpression(n.expression); return; }
      if (n.type === 'Fragment') return visitFragment(n);
      if (n.attributes) for (const a of n.attributes) {
        if (a.type !== 'Attribute' || a.value === true) { if (a.expression) visitExpression(a.expression); continue; }
        const parts = Array.isArray(a.value) ? a.value : [a.value];
        const statics = parts.filter((p) => p.type === 'Text' && hasLetters(p.data));
        const isUi = uiAttributes.has(a.name) || (n.type === 'Component' && !/^(class|href|to|id|name|icon|look|service|view|type|path|autocomplete|lang|language|as|tag|key)$/.test(a.name) && statics.some((s) => looksLikeText(s.data)));
        if (statics.length === 0) { for (const p of parts) if (p.type === 'ExpressionTag') visitExpression(p.expression); continue; }
        if (!isUi || a.name === 'class' || a.name === 'style' || /^(curl|git|npm|docker|rclone|psql|https?:)/.test(statics[0].data)) continue;
        const used = new Map(); let bad = false; let msg = '';
        for (const p of parts) {
          if (p.type === 'Text') msg += escapeIcu(p.data);
          else { const code = source.slice(p.expression.start, p.expression.end); if (hasString(code)) bad = true; msg += `{${paramName(code, used)}}`; }
        }
        if (bad) { leave(a.start, 'attribute with text in an expression', source.slice(a.start, a.end)); continue; }
        edits.push([a.start, a.end, `${a.name}={${call(msg, used)}}`]);
      }
      for (const [k, v] of Object.entries(n)) {
        if (['attributes', 'parent', 'metadata'].includes(k)) continue;
        if (k === 'expression' || k === 'test' || k === 'key' || k === 'context') { if (v && typeof v.start === 'number' && k !== 'context') visitExpression(v); continue; }
        if (v && typeof v === 'object' && v.type === 'Fragment') visitFragment(v);
        else if (v && typeof v === 'object' && /Block$|Element$/.test(v.type ?? '')) visit(v);
      }
    };
    visitFragment(ast.fragment);
  } else scripts.push([0, source.length, false]);
  for (const [start, end, , isExpression] of scripts) {
    const code = source.slice(start, end);
    const offset = isExpression ? start - 1 : start;
    const sf = ts.createSourceFile('x.ts', isExpression ? `(${code})` : code, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
    const propertyNames = new Set(['label','title','note','text','description','message','hint','placeholder','heading','caption','subject','advice','empty','action','question','explanation','remedy','warning','summary','problem','reason','unit','confirm','done','subtitle','tooltip','name']);
    const walk = (node, inFunction) => {
      if (ts.isImportDeclaration(node) || ts.isTypeNode(node) || ts.isTypeAliasDeclaration(node) || ts.isInterfaceDeclaration(node) || ts.isExportDeclaration(node)) return;
      const isText = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node);
      if (isText) {
        if (ts.isTemplateExpression(node)) node.templateSpans.forEach((s) => walk(s.expression, inFunction));
        const literal = ts.isTemplateExpression(node) ? node.head.text + node.templateSpans.map((s) => `\u0001${s.literal.text}`).join('') : node.text;
        const p = node.parent;
        if (!looksLikeText(literal.replaceAll('\u0001', ' x ').trim()) && !(ts.isPropertyAssignment(p) && propertyNames.has(p.name.getText()) && p.name.getText() !== 'name' && /^[A-Za-z][a-z]+( |$)/.test(literal))) return;
        if (ts.isBinaryExpression(p) && /===|!==|\bin\b/.test(p.operatorToken.getText())) return;
        if (ts.isArrayLiteralExpression(p) && ts.isPropertyAccessExpression(p.parent)) return;
        if (/^(Arrow(Up|Down|Left|Right)|Escape|Enter|Tab|Home|End|Page(Up|Down)|Delete|Backspace|Files|Shift|Control|Meta|Alt|Space|GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)$/.test(literal)) return;
        if (/^(curl|git|npm|docker|rclone|psql|\$ |https?:|mailto:|javascript:)/.test(literal)) return;
        if (ts.isTemplateExpression(node) && !/[A-Za-z]{2,}\s|\s[A-Za-z]{2,}|^[A-Z][a-z]+/.test(literal)) return;
        if (ts.isTemplateExpression(node) && /^\u0001?\/|\/\u0001|:\u0001/.test(literal)) return;
        if (ts.isCaseClause(p) || (ts.isPropertyAssignment(p) && p.name === node) || ts.isElementAccessExpression(p) || ts.isComputedPropertyName(p) || ts.isTaggedTemplateExpression(p)) return;
        if (ts.isPropertyAssignment(p) && /^(class|href|to|id|icon|look|type|path|kind|state|method|name|key|code|format|lang|locale|timeZone|accept|mode|role)$/.test(p.name.getText())) { return; }
        if (ts.isCallExpression(p) && /(querySelector|getElementById|addEventListener|Error|console\.\w+|startsWith|endsWith|includes|split|join|replace\w*|matchMedia|MediaQuery|getItem|setItem|JSON\.\w+|Intl\.\w+|toLocale\w*|import)$/.test(p.expression.getText())) return;
        if (ts.isNewExpression(p) && /(Error|MediaQuery|RegExp|URL|DateTimeFormat|NumberFormat|Event|Worker)/.test(p.expression.getText())) { if (/Error/.test(p.expression.getText())) leave(offset + node.getStart(), 'error text', node.getText()); return; }
        if (/^(\d+|max-width|min-width|\(|[.#\[]|--)/.test(literal)) return;
        const used = new Map(); let msg = ''; let bad = false;
        if (ts.isTemplateExpression(node)) {
          msg = escapeIcu(node.head.text);
          for (const s of node.templateSpans) { const c = s.expression.getText(); if (hasString(c)) bad = true; msg += `{${paramName(c, used)}}${escapeIcu(s.literal.text)}`; }
        } else msg = escapeIcu(literal);
        const at = offset + node.getStart(), to = offset + node.getEnd();
        if (bad) return leave(at, 'template with text in an expression', node.getText());
        if (msg !== msg.trim()) return leave(at, 'fragment of a text', node.getText());
        if (inFunction || isExpression) { edits.push([at, to, call(msg, used)]); return; }
        if (ts.isPropertyAssignment(p) && p.initializer === node && !ts.isStringLiteral(p.name)) { edits.push([offset + p.getStart(), to, `get ${p.name.getText()}() {\nreturn ${call(msg, used)};\n}`]); return; }
        return leave(at, 'text of a constant', node.getText());
      }
      const isLazyCall = ts.isCallExpression(node) && /^\$(derived|effect)/.test(node.expression.getText());
      const next = inFunction || isLazyCall || (ts.isFunctionLike(node) && node.kind !== ts.SyntaxKind.Constructor);
      ts.forEachChild(node, (c) => walk(c, next));
    };
    walk(sf, false);
  }
  // Inner edits are part of outer ones only by accident: drop contained ones.
  edits.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const kept = []; for (const e of edits) { const last = kept.at(-1); if (last && e[0] < last[1]) continue; kept.push(e); }
  if (kept.length > 0) {
    for (const [s, e, t] of kept.reverse()) source = source.slice(0, s) + t + source.slice(e);
    const statement = `import * as ${alias} from '#messages/${namespace}';`;
    if (!source.includes(statement)) {
      if (isSvelte) {
        const m = /<script lang="ts">\n/.exec(source);
        if (m) source = source.slice(0, m.index + m[0].length) + `  ${statement}\n` + source.slice(m.index + m[0].length);
        else source = `<script lang="ts">\n  ${statement}\n</script>\n\n${source}`;
        if (/<script lang="ts" module>/.test(source) && new RegExp(`<script lang="ts" module>[\\s\\S]*?\\b${alias}\\.[\\s\\S]*?</script>`).test(source)) left.push(`${file}: check the import, a module script uses texts`);
      } else source = `${statement}\n${source}`;
    }
    writeFileSync(path, source);
  }
  for (const l of left) console.log(l);
}
writeFileSync(catalogFile, `${JSON.stringify(catalog, null, 2)}\n`);
console.log(`${doneCount} texts moved, ${leftCount} left, ${Object.keys(catalog).length} messages in ${namespace}`);
