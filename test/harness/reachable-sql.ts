import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

/** A statement of the product, with `${…}` where a value or a fragment is put in. */
export interface ReachableStatement {
  text: string;
  /** The declaration it is written in: `api/store/wallets.ts#lockWallet`. */
  owner: string;
}

/** Which declarations at the top of a file refer to which others, and the tagged templates written in each. */
export interface ReferenceGraph {
  references: ReadonlyMap<string, ReadonlySet<string>>;
  templates: ReadonlyMap<string, readonly string[]>;
}

/** Reads the whole product; about ten seconds of one core. */
export function readReferences(): ReferenceGraph {
  const files = ['api', 'indexer', 'shared', 'state-machines'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.startsWith(join('checkout', 'page')) && !path.startsWith(join('console', 'page')))
      .map((path) => join(folder, path)),
  );
  const { options } = ts.parseJsonConfigFileContent(JSON.parse(readFileSync('tsconfig.base.json', 'utf8')), ts.sys, '.');
  const program = ts.createProgram(files, { ...options, composite: false, declaration: false, emitDeclarationOnly: false, noEmit: true });
  const checker = program.getTypeChecker();
  const references = new Map<string, Set<string>>();
  const templates = new Map<string, string[]>();

  const visit = (node: ts.Node, within: string | undefined): void => {
    let owner = within;
    if (owner === undefined && isDeclaration(node)) {
      owner = nameOf(node);
      if (!references.has(owner)) references.set(owner, new Set());
      if (!templates.has(owner)) templates.set(owner, []);
    }
    if (owner !== undefined && ts.isIdentifier(node)) {
      const target = declarationOf(checker, node);
      if (target !== undefined && nameOf(target) !== owner) references.get(owner)?.add(nameOf(target));
    }
    if (owner !== undefined && ts.isTaggedTemplateExpression(node)) templates.get(owner)?.push(textOf(node.template));
    ts.forEachChild(node, (child) => visit(child, owner));
  };
  for (const file of program.getSourceFiles()) if (!file.isDeclarationFile && !file.fileName.includes('node_modules')) visit(file, undefined);
  return { references, templates };
}

/** Every statement that may be run by whoever begins at one of `roots`, never going through what is in `stop`. @throws Error for a root that is nowhere */
export function reachableStatements({ references, templates }: ReferenceGraph, roots: readonly string[], stop: readonly string[]): ReachableStatement[] {
  const seen = new Set(roots);
  const left = [...roots];
  for (let owner = left.pop(); owner !== undefined; owner = left.pop()) {
    const next = references.get(owner);
    if (next === undefined) throw new Error(`${owner} is declared nowhere`);
    for (const one of next)
      if (!seen.has(one) && !stop.includes(one) && references.has(one)) {
        seen.add(one);
        left.push(one);
      }
  }
  return [...seen].flatMap((owner) => (templates.get(owner) ?? []).map((text) => ({ owner, text })));
}

type Declaration = ts.FunctionDeclaration | ts.VariableDeclaration | ts.ClassDeclaration;

function isDeclaration(node: ts.Node): node is Declaration {
  return ts.isFunctionDeclaration(node) || ts.isVariableDeclaration(node) || ts.isClassDeclaration(node);
}

/** The declaration at the top of its file that an identifier leads to; undefined for libraries. */
function declarationOf(checker: ts.TypeChecker, node: ts.Identifier): Declaration | undefined {
  let symbol = ts.isShorthandPropertyAssignment(node.parent) ? checker.getShorthandAssignmentValueSymbol(node.parent) : checker.getSymbolAtLocation(node);
  if (symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol);
  let found: Declaration | undefined;
  for (let at: ts.Node | undefined = symbol?.valueDeclaration ?? symbol?.declarations?.[0]; at !== undefined && !ts.isSourceFile(at); at = at.parent)
    if (isDeclaration(at) && !at.getSourceFile().fileName.includes('node_modules')) found = at;
  return found;
}

function nameOf(node: Declaration): string {
  return `${relative(process.cwd(), node.getSourceFile().fileName)}#${node.name?.getText() ?? node.pos}`;
}

function textOf(template: ts.TemplateLiteral): string {
  const text = ts.isNoSubstitutionTemplateLiteral(template)
    ? template.text
    : template.head.text + template.templateSpans.map((span) => `\${${span.expression.getText()}}${span.literal.text}`).join('');
  return text.replace(/\s+/g, ' ').trim();
}

/** What a statement does to tables, as far as its text says: `select t`, `insert t`, `delete t`, `lock t`, `update t.column`. */
export function needsOf(statement: string, tables: ReadonlySet<string>): string[] {
  const text = bare(statement);
  const needs = new Set<string>();
  const add = (what: string, table: string | undefined, column?: string): void => {
    if (table !== undefined && tables.has(table)) needs.add(`${what} ${table}${column === undefined ? '' : `.${column}`}`);
  };
  for (const match of text.matchAll(/\binsert into (\w+)/g)) {
    add('insert', match[1]);
    const conflict = / on conflict [^;]*?do update set (.*)/.exec(text.slice(match.index));
    if (conflict !== null) for (const column of columnsSet(conflict[1] as string)) add('update', match[1], column);
  }
  for (const match of text.matchAll(/\bupdate (\w+)(?: (?:as )?(?!set\b)\w+)? set (.*)/g))
    for (const column of columnsSet(match[2] as string)) add('update', match[1], column);
  for (const match of text.matchAll(/\bdelete from (\w+)/g)) add('delete', match[1]);
  for (const match of text.matchAll(/\b(?:from|join) (\w+)/g)) add('select', match[1]);
  for (const match of text.matchAll(/, (\w+) \w\b/g)) add('select', match[1]);
  for (const match of text.matchAll(/\bfor (?:no key update|update|key share|share)(?: of (\w+))?/g)) {
    const before = text.slice(0, match.index);
    const aliased = match[1] === undefined ? undefined : new RegExp(`\\b(?:from|join) (\\w+) ${match[1]}\\b`).exec(before)?.[1];
    add('lock', aliased ?? [...before.matchAll(/\bfrom (\w+)/g)].at(match[1] === undefined ? 0 : -1)?.[1]);
  }
  return [...needs];
}

/** Lower case, without what is put in from outside. */
function bare(statement: string): string {
  let depth = 0;
  let text = '';
  for (let at = 0; at < statement.length; at++) {
    if (statement.startsWith('${', at)) depth += 1;
    if (depth === 0) text += statement[at];
    else if (statement[at] === '{' && statement[at - 1] !== '$') depth += 1;
    else if (statement[at] === '}') {
      depth -= 1;
      if (depth === 0) text += '?';
    }
  }
  return text.toLowerCase();
}

/** The columns of `a = …, (b, c) = …` up to the clause after it. */
function columnsSet(text: string): string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] as string;
    if (letter === ')' && depth === 0) break;
    if (depth === 0 && /^ (from|where|returning) /.test(text.slice(at, at + 11))) break;
    depth += letter === '(' ? 1 : letter === ')' ? -1 : 0;
    if (letter === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += letter;
  }
  return parts.flatMap(
    (part) =>
      /^\s*\(?([\w, ]+)\)? =/
        .exec(part)?.[1]
        ?.split(',')
        .map((name) => name.trim()) ?? [],
  );
}
