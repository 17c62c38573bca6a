import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Type } from '@nestjs/common';
import { ERROR_CODES } from '../../contracts/errors.js';
import { routesOf } from '../openapi/routes.js';
import { versionsController } from '../registry/versions.controller.js';
import { nextCalls } from './next-calls.js';
import { type ToolOfRoute, toolsOf } from './tool-list.js';

const CODES = Object.keys(ERROR_CODES);
const API = new URL('..', import.meta.url);

let tools: ReadonlyMap<string, ToolOfRoute>;
beforeAll(async () => {
  const files = readdirSync(fileURLToPath(API), { recursive: true, encoding: 'utf8' });
  const exported: unknown[] = (['datasets', 'harnesses', 'runtimes'] as const).map(versionsController);
  for (const file of files.filter((name) => name.endsWith('.controller.ts'))) {
    const module: Record<string, unknown> = await import(new URL(file, API).pathname);
    exported.push(...Object.values(module));
  }
  const isController = (value: unknown): value is Type<unknown> => typeof value === 'function' && 'prototype' in value;
  tools = toolsOf(exported.filter(isController).flatMap((controller) => routesOf(controller)));
});

function named(name: string): ToolOfRoute {
  const tool = tools.get(name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  return tool;
}

const next = (code: string, name: string, reach = tools) => nextCalls(code, named(name), reach).map(({ tool }) => tool);

test.each([
  ['get_baseline', ['list_baselines', 'list_scorecards']],
  ['unpin_baseline', ['list_baselines', 'list_scorecards']],
  ['gate_scorecard', ['list_scorecards', 'list_baselines', 'list_policies']],
  ['diff_scorecards', ['list_scorecards', 'list_baselines']],
  ['get_policy', ['list_policies']],
  ['run_case', ['list_datasets', 'list_harnesses', 'list_runtimes']],
  ['get_run', ['list_runs', 'list_scorecards']],
])('what %s does not find is looked up in what lists it, and then it is called again', (name, lists) => {
  expect(next('NOT_FOUND', name)).toEqual([...lists, name]);
});

test('a connection is told of the tools that it has, and of no other', () => {
  const reach = new Map([...tools].filter(([name]) => ['get_run', 'list_runs'].includes(name)));
  expect(next('NOT_FOUND', 'get_run', reach)).toEqual(['list_runs', 'get_run']);
  expect(next('FORBIDDEN', 'get_run', reach)).toEqual(['get_run']);
  expect(next('NOT_FOUND', 'get_scorecard', reach)).toEqual([]);
});

test('no refusal of any tool leads to another that changes something, or to one that there is not', () => {
  const missing = new Set<string>();
  const recording = new (class extends Map<string, ToolOfRoute> {
    override get(name: string): ToolOfRoute | undefined {
      if (!this.has(name)) missing.add(name);
      return super.get(name);
    }
  })(tools);
  for (const name of tools.keys()) {
    for (const code of CODES) {
      const others = next(code, name, recording).filter((other) => other !== name);
      expect(others.filter((other) => named(other).info.effect !== 'read')).toEqual([]);
    }
  }
  expect([...missing]).toEqual([]);
});
