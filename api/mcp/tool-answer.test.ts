import { routesOf } from '../openapi/routes.js';
import { RuntimeChecksController } from '../runtimes/runtime-checks.controller.js';
import { withoutNames } from './shown-text.js';
import { ToolAnswers } from './tool-answer.js';
import { type ToolOfRoute, toolsOf } from './tool-list.js';
import { viewOf } from './tool-request.js';

const tools = toolsOf(routesOf(RuntimeChecksController));
const answers = new ToolAnswers(withoutNames([...tools.keys(), 'whoami']));

function named(name: string): ToolOfRoute {
  const tool = tools.get(name);
  if (!tool) throw new Error(`there is no tool ${name}`);
  return tool;
}

test('what is wrong with a runtime is told unasked', () => {
  const message = 'is 0, less than the required 1';
  const body = { ok: false, errors: [{ path: 'maxConcurrent', message }] };
  const { structuredContent } = answers.json(named('validate_runtime'), body, viewOf({}));
  expect(structuredContent).toMatchObject({
    errors: [{ message: { untrusted: { source: 'user', chars: message.length, text: message } } }],
  });
  expect(Object.keys(named('validate_runtime').arguments)).toEqual(['spec', 'contentLimit']);
});

test('a refusal says what can be typed, and names no tool that is not among the next calls', () => {
  const detail = '`everdict whoami` shows who that is: then probe_runtime';
  const problem = {
    type: 'about:blank',
    title: 't',
    status: 400,
    code: 'BAD_REQUEST',
    detail,
    errors: [],
    requestId: 'r',
  };
  const { content } = answers.refused(named('probe_runtime'), problem, tools);
  const [said] = content.flatMap((part) => (part.type === 'text' ? [JSON.parse(part.text)] : []));
  expect(said).toMatchObject({
    detail: '`everdict whoami` shows who that is: then pr·obe_runtime',
    next: [{ tool: 'probe_runtime' }],
  });
});
