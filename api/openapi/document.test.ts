import { Controller, createParamDecorator, Get, Param } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/internal';
import { Requires } from '../common/requires.js';
import { openApiDocument } from './document.js';
import { Operation } from './operation.js';

const Caller = createParamDecorator(() => 'somebody');

@Controller('things')
class ThingsController {
  @Get(':id')
  @Requires('read')
  @Operation({ summary: 'Shows a thing', answer: { status: 200 } })
  show(@Caller() caller: string, @Param('id') id: string): string {
    return `${caller} ${id}`;
  }
}

test('a decorator of our own whose random name begins with a digit is no parameter of the path', () => {
  const declared: Record<string, { index: number }> = Reflect.getMetadata(
    ROUTE_ARGS_METADATA,
    ThingsController,
    'show',
  );
  const renamed = Object.entries(declared).map(([key, argument]) => [
    argument.index === 0 ? key.replace(/^./, '5a') : key,
    argument,
  ]);
  Reflect.defineMetadata(ROUTE_ARGS_METADATA, Object.fromEntries(renamed), ThingsController, 'show');
  const { paths } = openApiDocument([ThingsController], '1.0.0');
  expect(paths).toMatchObject({ '/things/{id}': { get: { parameters: expect.any(Array) } } });
  expect(JSON.stringify(paths).match(/"name":"\w+","in":"path"/g)).toEqual(['"name":"id","in":"path"']);
});
